#ifndef RINGDHCP_STORAGE_LOCAL_LOCAL_LEASE_STORE_H_
#define RINGDHCP_STORAGE_LOCAL_LOCAL_LEASE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/outbox.h"

namespace ringdhcp {

struct LocalStoreOptions {
  std::string directory;
  /// false: a directory without a store is an error (NotFound), and stays as it is.
  bool create_if_missing = true;
  /// false: commits are not synced (durability relaxed); they survive kill -9, not power loss.
  bool synced = true;
  /// Also append each row to the outbox, for a replicator. Off while nothing drains it.
  bool outbox = false;
  /// An outbox of so many rows is discarded, and every lease must be sent once instead: its
  /// compaction to the last write of each address. 0: no limit.
  std::uint64_t outbox_rows_max = 0;
};

/// Opens or makes the RocksDB store in options.directory: column families leases, outbox, meta.
/// Fails, naming the cause and what to do, when another process holds the directory's lock, when
/// its format version is newer than this program, or when it can't be written.
absl::StatusOr<std::unique_ptr<JournalStore>> OpenLocalLeaseStore(const LocalStoreOptions& options);

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_LOCAL_LOCAL_LEASE_STORE_H_
