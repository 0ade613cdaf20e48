#ifndef RINGDHCP_SERVER_LEASE_CLIENT_DETAILS_H_
#define RINGDHCP_SERVER_LEASE_CLIENT_DETAILS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "server/lease/lease.h"
#include "server/lease/zeroed_array.h"

namespace ringdhcp {

/// What a row has beyond identity and times: host name (option 12) and relay agent information
/// (option 82), each up to 255 octets. Kept so that a renewal without a relay, which has no option
/// 82, and a RELEASE, which rarely has a name, still give a complete row. Chains of 32-octet chunks
/// from one reserved array: two chunks for each address, which is 54 octets of text on average.
/// When all are in use, the name and then option 82 are not kept; rows made from the message itself
/// stay complete. (The client identifier needs no room here: every message that makes a row has
/// it.) One thread.
class ClientDetails {
 public:
  struct View {
    std::span<const std::uint8_t> host_name;
    std::span<const std::uint8_t> relay_information;
  };

  /// `leases`: how many may have details at once.
  explicit ClientDetails(std::size_t leases);

  /// Replaces what `handle` names by `details`; spans longer than 255 octets are cut. Returns the
  /// new handle, 0 when there is nothing to keep. `details` must not be borrowed from this object.
  std::uint32_t Set(std::uint32_t handle, const View& details);
  void Free(std::uint32_t handle);
  bool Equals(std::uint32_t handle, const View& details) const;
  /// Copies what `handle` names into `record`; nothing for handle 0.
  void CopyTo(std::uint32_t handle, LeaseRecord& record) const;
  std::size_t free_chunks() const { return free_; }

 private:
  struct Chunk {
    std::uint32_t next;  // handle of the next, 0: last
    std::array<std::uint8_t, 28> octets;
  };
  static_assert(sizeof(Chunk) == 32);
  class Reader;

  std::uint32_t Take();

  ZeroedArray<Chunk> chunks_;   // a handle is an index plus one
  std::size_t never_used_ = 0;  // chunks from here on were never used
  std::uint32_t returned_ = 0;  // list of chunks given back
  std::size_t free_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_CLIENT_DETAILS_H_
