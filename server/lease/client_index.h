#ifndef RINGDHCP_SERVER_LEASE_CLIENT_INDEX_H_
#define RINGDHCP_SERVER_LEASE_CLIENT_INDEX_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "server/dhcp4/client_key.h"
#include "server/lease/lease_table.h"
#include "server/lease/zeroed_array.h"

namespace ringdhcp {

/// From a client and a subnet to the one address that is or was the client's there. Open addressing
/// over 8-octet slots; the keys stay in the lease table. Unlike a general hash map it never grows,
/// never leaves tombstones and so never stalls in a rehash. The hash is keyed: clients choose their
/// identifiers and must not be able to choose collisions. One thread.
class ClientIndex {
 public:
  /// Room for every address of `table`, which must outlive the index.
  ClientIndex(const LeaseTable& table, std::uint64_t seed);

  /// kNoLease when the client has no address in the subnet.
  std::uint32_t Find(const ClientKey& client, std::uint32_t subnet) const;
  /// Adds `index` under its lease's client and subnet, which must not be there yet.
  void Insert(std::uint32_t index);
  /// Removes `index`, which must be there (checked), before its client or subnet changes.
  void Erase(std::uint32_t index);
  std::size_t size() const { return size_; }

 private:
  // A slot is the hash in the upper and the lease's index plus one in the lower half; 0: empty.
  using Slot = std::uint64_t;
  std::uint32_t Hash(const ClientKey& client, std::uint32_t subnet) const;
  std::size_t Home(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash * slots_.size()) >> 32);
  }
  std::size_t After(std::size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }

  const LeaseTable& table_;
  std::array<std::uint64_t, 6> secret_{};
  ZeroedArray<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_CLIENT_INDEX_H_
