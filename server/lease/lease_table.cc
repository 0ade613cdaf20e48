#include "server/lease/lease_table.h"

#include <algorithm>

#include "server/base/check.h"

namespace ringdhcp {

namespace {

std::size_t CountAddresses(const std::vector<Subnet>& subnets) {
  std::uint64_t count = 0;
  for (const Subnet& subnet : subnets) {
    for (const Pool& pool : subnet.pools) {
      RINGDHCP_CHECK(pool.first <= pool.last);
      RINGDHCP_CHECK(subnet.prefix.Contains(pool.first) && subnet.prefix.Contains(pool.last));
      count += pool.Size();
      RINGDHCP_CHECK(count <= kPoolAddressesMax);
    }
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

LeaseTable::LeaseTable(const std::vector<Subnet>& subnets) : leases_(CountAddresses(subnets)) {
  std::uint32_t base = 0;
  for (std::uint32_t i = 0; i < subnets.size(); ++i) {
    const Subnet& subnet = subnets[i];
    RINGDHCP_CHECK(i == 0 || subnets[i - 1].prefix.Broadcast() < subnet.prefix.address);
    Range range{base, base};
    for (const Pool& pool : subnet.pools) {
      RINGDHCP_CHECK(runs_.empty() || runs_.back().last < pool.first);
      runs_.push_back({pool.first, pool.last, base, i});
      if (subnet.prefix.length <= 30) {
        if (pool.first == subnet.prefix.address) reserved_.push_back(base);
        const auto size = static_cast<std::uint32_t>(pool.Size());
        if (pool.last == subnet.prefix.Broadcast()) reserved_.push_back(base + size - 1);
      }
      base += static_cast<std::uint32_t>(pool.Size());
    }
    range.end = base;
    ranges_.push_back(range);
  }
}

std::uint32_t LeaseTable::Find(Ipv4Address address) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), address,
                              [](Ipv4Address a, const Run& r) { return a < r.first; });
  if (run == runs_.begin()) return kNoLease;
  --run;
  if (run->last < address) return kNoLease;
  const std::uint32_t index = run->base + (address.value - run->first.value);
  // Only the ends of a pool can be the ends of its subnet.
  if ((address == run->first || address == run->last) &&
      std::binary_search(reserved_.begin(), reserved_.end(), index)) {
    return kNoLease;
  }
  return index;
}

const LeaseTable::Run& LeaseTable::RunOf(std::uint32_t index) const {
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), index,
                                    [](std::uint32_t i, const Run& r) { return i < r.base; });
  RINGDHCP_CHECK(run != runs_.begin());
  return *(run - 1);
}

Ipv4Address LeaseTable::AddressOf(std::uint32_t index) const {
  const Run& run = RunOf(index);
  return Ipv4Address(run.first.value + (index - run.base));
}

std::uint32_t LeaseTable::SubnetOf(std::uint32_t index) const { return RunOf(index).subnet; }

}  // namespace ringdhcp
