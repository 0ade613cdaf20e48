#include "server/lease/address_allocator.h"

#include <algorithm>
#include <bit>

#include "server/base/buggify.h"
#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/base/probe.h"

namespace ringdhcp {

AddressAllocator::AddressAllocator(LeaseTable& table, std::size_t subnets)
    : table_(table), subnets_(subnets), used_(std::size_t{table.size()} / 64 + 1) {
  for (std::uint32_t i = 0; i < subnets; ++i) {
    const LeaseTable::Range range = table.RangeOf(i);
    subnets_[i].cursor = range.begin;
    subnets_[i].end = range.end;
  }
  for (const std::uint32_t index : table.reserved()) MarkUsed(index);
}

void AddressAllocator::Take(std::uint32_t index) {
  Lease& lease = table_[index];
  if (IsUsed(index)) {
    subnets_[lease.subnet].given_back.Remove(table_, index);
    return;
  }
  MarkUsed(index);
  lease.address = table_.AddressOf(index);
  lease.subnet = table_.SubnetOf(index);
}

void AddressAllocator::Return(std::uint32_t index) {
  subnets_[table_[index].subnet].given_back.PushBack(table_, index);
}

std::uint32_t AddressAllocator::NextNeverUsed(std::uint32_t subnet) {
  SubnetState& state = subnets_[subnet];
  while (state.cursor < state.end) {
    const std::uint64_t unused = ~used_[state.cursor / 64] >> (state.cursor % 64);
    if (unused != 0) {
      state.cursor += static_cast<std::uint32_t>(std::countr_zero(unused));
      if (state.cursor >= state.end) break;
      return state.cursor;
    }
    state.cursor += 64 - state.cursor % 64;
  }
  state.cursor = state.end;
  return kNoLease;
}

std::uint32_t AddressAllocator::TakeNext(std::uint32_t subnet,
                                         std::span<const Ipv4Address> excluded) {
  const auto is_excluded = [&](std::uint32_t index) {
    if (RINGDHCP_CANARY(own_address_offered)) return false;
    return std::find(excluded.begin(), excluded.end(), table_[index].address) != excluded.end();
  };
  const bool reuse = !subnets_[subnet].given_back.empty() && RINGDHCP_BUGGIFY(reuse_first);
  while (!reuse) {
    const std::uint32_t index = NextNeverUsed(subnet);
    if (index == kNoLease) break;
    Take(index);
    if (!is_excluded(index)) return index;
    RINGDHCP_PROBE(own_address_passed_over);
    Return(index);  // it may stop to be ours later
  }
  LeaseList& given_back = subnets_[subnet].given_back;
  for (std::size_t tries = 0; tries <= excluded.size() && !given_back.empty(); ++tries) {
    const std::uint32_t index = given_back.head;
    given_back.Remove(table_, index);
    if (!is_excluded(index)) return index;
    given_back.PushBack(table_, index);
  }
  return kNoLease;
}

}  // namespace ringdhcp
