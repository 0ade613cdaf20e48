#ifndef RINGDHCP_SERVER_LEASE_ADDRESS_ALLOCATOR_H_
#define RINGDHCP_SERVER_LEASE_ADDRESS_ALLOCATOR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/lease/lease_table.h"
#include "server/lease/zeroed_array.h"

namespace ringdhcp {

/// Which addresses are free, per subnet, and in what order they are given out: first those never
/// used, in pool order; then the one given back longest ago, so that a client that left finds its
/// old address for as long as possible. Constant time whatever the fill (never used addresses are
/// found by a scan over a bit map that passes each address once). One thread.
class AddressAllocator {
 public:
  /// `table` and `subnets` must outlive the allocator. All addresses begin as never used.
  AddressAllocator(LeaseTable& table, std::size_t subnets);

  /// Takes `index`, which must be free (never used, or given back).
  void Take(std::uint32_t index);
  /// Takes the next free address of the subnet that is none of `excluded` (this host's own, few);
  /// kNoLease when there is none.
  std::uint32_t TakeNext(std::uint32_t subnet, std::span<const Ipv4Address> excluded);
  /// Gives a taken address back, as the most recently used one.
  void Return(std::uint32_t index);

 private:
  bool IsUsed(std::uint32_t index) const { return used_[index / 64] >> (index % 64) & 1; }
  void MarkUsed(std::uint32_t index) { used_[index / 64] |= std::uint64_t{1} << (index % 64); }
  std::uint32_t NextNeverUsed(std::uint32_t subnet);

  struct SubnetState {
    LeaseList given_back;      // least recently used first
    std::uint32_t cursor = 0;  // every index of the subnet before it was used
    std::uint32_t end = 0;
  };
  LeaseTable& table_;
  std::vector<SubnetState> subnets_;
  ZeroedArray<std::uint64_t> used_;  // one bit for each index
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_ADDRESS_ALLOCATOR_H_
