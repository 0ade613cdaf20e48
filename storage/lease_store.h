#ifndef RINGDHCP_STORAGE_LEASE_STORE_H_
#define RINGDHCP_STORAGE_LEASE_STORE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/lease/lease.h"

namespace ringdhcp {

enum class BatchOutcome : std::uint8_t {
  kDurable,  // survives kill -9 and power loss
  kFailed,   // nothing of it was stored
  kUnknown,  // it may or may not be stored; writing it again is safe
};

struct BatchResult {
  BatchOutcome outcome = BatchOutcome::kFailed;
  /// OK when durable; else the cause and what to do about it.
  absl::Status status;
};

/// Where leases survive. The seam between the server and a database. An object is used by one
/// thread at a time: the starting thread for LoadAll, then the store thread for Commit.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  /// Calls `row` once for each stored lease, in no order.
  virtual absl::Status LoadAll(const std::function<void(const LeaseRecord&)>& row) = 0;
  /// Stores all rows or (kFailed) none; at most one row per address. Of a stored and a new row the
  /// larger version stays. Blocks. Never throws.
  virtual BatchResult Commit(std::span<const LeaseRecord> rows) = 0;
  /// "memory", "local".
  virtual std::string_view name() const = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_LEASE_STORE_H_
