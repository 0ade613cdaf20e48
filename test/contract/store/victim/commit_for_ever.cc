// store_crash_victim DIRECTORY FIRST synced|unsynced: commits batches from number FIRST on, for
// ever, and reports each durable one. Made to be killed.
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "storage/local/local_lease_store.h"
#include "test/contract/store/victim/crash_batches.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto store = ringdhcp::OpenLocalLeaseStore(
      {.directory = argv[1], .synced = std::string(argv[3]) == "synced", .outbox = true});
  if (!store.ok()) {
    std::cerr << store.status() << "\n";
    return 1;
  }
  for (std::uint64_t batch = std::stoull(argv[2]);; ++batch) {
    const auto result = (*store)->Commit(ringdhcp::BatchOf(batch));
    if (result.outcome != ringdhcp::BatchOutcome::kDurable) {
      std::cerr << result.status << "\n";
      return 1;
    }
    if (::write(ringdhcp::kReportFd, &batch, sizeof batch) != sizeof batch) return 1;
  }
}
