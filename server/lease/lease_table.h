#ifndef RINGDHCP_SERVER_LEASE_LEASE_TABLE_H_
#define RINGDHCP_SERVER_LEASE_LEASE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "server/base/ipv4.h"
#include "server/dhcp4/client_key.h"
#include "server/dhcp4/message.h"
#include "server/lease/lease.h"
#include "server/lease/subnet.h"
#include "server/lease/zeroed_array.h"

namespace ringdhcp {

inline constexpr std::uint32_t kNoLease = 0xFFFFFFFFU;
inline constexpr std::uint32_t kNoSubnetIndex = 0xFFFFFFFFU;
/// `deadline_ns` of what never ends.
inline constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t kPoolAddressesMax = std::uint64_t{1} << 27;

/// One address of a pool. All zero is an address that was never used. Two cache lines.
struct Lease {
  /// Who holds the address (kBound, kOffered) or held it last (kReleased, kExpired, kFree).
  ClientKey client;
  std::uint64_t version;
  /// The number of the last queued row of this address while it is not durable, else 0.
  std::uint64_t pending_seq;
  /// Monotonic end of the lease, the hold or the probation; kNeverNs: none.
  std::int64_t deadline_ns;
  /// Monotonic end of the lease of this client as the store certainly has it; 0: none.
  std::int64_t durable_deadline_ns;
  std::int64_t starts_wall_s;
  std::int64_t expires_wall_s;
  std::array<std::uint8_t, kChaddrSize> chaddr;
  /// Neighbours in the free list or in a slot of the expiry wheel; an address is never in both.
  std::uint32_t previous, next;
  Ipv4Address address;
  std::uint32_t subnet;      // index into EngineConfig::subnets
  std::uint32_t details;     // host name and option 82, see client_details.h; 0: none
  std::uint32_t offered_s;   // option 51 of the last OFFER to `client`; 0: none since the start
  std::uint16_t timer_slot;  // slot of the wheel plus 1; 0: no timer
  LeaseState state;
  std::uint8_t htype, hlen;
  bool acknowledged;  // `client` had a lease of this address, not only an offer
  bool indexed;       // the client index leads from `client` to here
  /// An OFFER of this lease prolonged deadline_ns in memory: nobody was promised the time since.
  bool prolonged;

  /// Nobody has a claim on the address now.
  bool IsAvailable() const {
    return state == LeaseState::kFree || state == LeaseState::kReleased ||
           state == LeaseState::kExpired;
  }
  bool IsHeldBy(const ClientKey& key) const {
    return (state == LeaseState::kBound || state == LeaseState::kOffered) && client == key;
  }
};
static_assert(sizeof(Lease) == 128 && std::is_trivially_copyable_v<Lease>);

/// Every address of every pool, by an index that follows from the address: the addresses of a
/// subnet have consecutive indexes in pool order. Memory is reserved at construction and costs
/// nothing until an address is used. One thread.
class LeaseTable {
 public:
  /// `subnets` ascending by prefix, disjoint; it must outlive the table. Checked: at most
  /// kPoolAddressesMax addresses.
  explicit LeaseTable(const std::vector<Subnet>& subnets);

  Lease& operator[](std::uint32_t index) { return leases_[index]; }
  const Lease& operator[](std::uint32_t index) const { return leases_[index]; }

  /// The index of an address that may be leased; kNoLease outside the pools and for the network and
  /// broadcast addresses of the subnet (RFC 1122 section 3.2.1.3; a /31 has none, RFC 3021).
  std::uint32_t Find(Ipv4Address address) const;
  /// The address, whether it was ever used or not.
  Ipv4Address AddressOf(std::uint32_t index) const;
  std::uint32_t SubnetOf(std::uint32_t index) const;

  /// The consecutive indexes of a subnet's pools.
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  Range RangeOf(std::uint32_t subnet) const { return ranges_[subnet]; }
  /// Indexes that exist but may not be leased: network and broadcast addresses inside pools.
  std::span<const std::uint32_t> reserved() const { return reserved_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(leases_.size()); }

 private:
  struct Run {  // one pool
    Ipv4Address first, last;
    std::uint32_t base;
    std::uint32_t subnet;
  };
  const Run& RunOf(std::uint32_t index) const;

  std::vector<Run> runs_;  // ascending by address and by base
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> reserved_;  // ascending
  ZeroedArray<Lease> leases_;
};

/// A doubly linked list through Lease::previous and Lease::next.
struct LeaseList {
  std::uint32_t head = kNoLease;
  std::uint32_t tail = kNoLease;

  bool empty() const { return head == kNoLease; }
  void PushBack(LeaseTable& table, std::uint32_t index) {
    Lease& lease = table[index];
    lease.previous = tail;
    lease.next = kNoLease;
    (tail == kNoLease ? head : table[tail].next) = index;
    tail = index;
  }
  /// `index` must be in this list.
  void Remove(LeaseTable& table, std::uint32_t index) {
    const Lease& lease = table[index];
    (lease.previous == kNoLease ? head : table[lease.previous].next) = lease.next;
    (lease.next == kNoLease ? tail : table[lease.next].previous) = lease.previous;
  }
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_LEASE_TABLE_H_
