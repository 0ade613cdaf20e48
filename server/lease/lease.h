#ifndef RINGDHCP_SERVER_LEASE_LEASE_H_
#define RINGDHCP_SERVER_LEASE_LEASE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "server/base/ids.h"
#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// The numbers are stored; never reuse one.
enum class LeaseState : std::uint8_t {
  kFree = 0,      // never leased, or nothing known; in no store
  kOffered = 1,   // held in memory for a client that has not asked for it yet; in no store
  kBound = 2,     // acknowledged
  kReleased = 3,  // given back; remembered so that the client gets it again
  kExpired = 4,   // time ran out; remembered likewise
  kDeclined = 5,  // found in use by somebody else; out of use until the probation ends
};

/// `expires_wall_s` of a lease that never ends.
inline constexpr std::int64_t kNeverExpires = std::numeric_limits<std::int64_t>::max();

/// One row of the lease store, keyed by `address`: everything that must survive a crash. Writing it
/// is an idempotent upsert; of two rows for one address the one with the larger `version` holds.
/// Fixed size, trivially copyable, self-contained.
struct LeaseRecord {
  Ipv4Address address;
  SubnetId subnet;
  LeaseState state = LeaseState::kFree;
  /// Rises by one with each change of this address, from 1.
  std::uint64_t version = 0;
  /// Seconds since 1970 UTC: when the client was last acknowledged, and when the lease ends
  /// (kDeclined: when the probation ends).
  std::int64_t starts_wall_s = 0;
  std::int64_t expires_wall_s = 0;
  std::uint8_t htype = 0;
  std::uint8_t hlen = 0;  // 0-16
  std::array<std::uint8_t, kChaddrSize> chaddr{};
  std::uint8_t client_id_length = 0;
  std::uint8_t host_name_length = 0;
  std::uint8_t relay_information_length = 0;
  std::array<std::uint8_t, 255> client_id{};          // option 61, whole
  std::array<std::uint8_t, 255> host_name{};          // option 12, as sent
  std::array<std::uint8_t, 255> relay_information{};  // option 82, up to 255 octets

  std::span<const std::uint8_t> ClientId() const { return {client_id.data(), client_id_length}; }
  std::span<const std::uint8_t> HardwareAddress() const { return {chaddr.data(), hlen}; }
  std::span<const std::uint8_t> HostName() const { return {host_name.data(), host_name_length}; }
  std::span<const std::uint8_t> RelayInformation() const {
    return {relay_information.data(), relay_information_length};
  }
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_LEASE_H_
