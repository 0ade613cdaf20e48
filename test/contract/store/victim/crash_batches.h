#ifndef RINGDHCP_TEST_CONTRACT_STORE_VICTIM_CRASH_BATCHES_H_
#define RINGDHCP_TEST_CONTRACT_STORE_VICTIM_CRASH_BATCHES_H_

#include <cstdint>
#include <vector>

#include "server/lease/lease.h"

namespace ringdhcp {

/// Where the victim writes the number of each durable batch, 8 octets in host order.
inline constexpr int kReportFd = 99;

/// Batch number `batch`: versions equal its number, 50 addresses that go round in 3000.
inline std::vector<LeaseRecord> BatchOf(std::uint64_t batch) {
  std::vector<LeaseRecord> rows(50);
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    rows[i].address = Ipv4Address(static_cast<std::uint32_t>((batch * rows.size() + i) % 3000));
    rows[i].subnet = SubnetId(1);
    rows[i].state = LeaseState::kBound;
    rows[i].version = batch;
  }
  return rows;
}

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_STORE_VICTIM_CRASH_BATCHES_H_
