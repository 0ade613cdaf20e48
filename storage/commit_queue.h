#ifndef RINGDHCP_STORAGE_COMMIT_QUEUE_H_
#define RINGDHCP_STORAGE_COMMIT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/ids.h"
#include "server/lease/lease.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// A sealed group of rows on its way to the store: one row per address, the last written.
struct LeaseBatch {
  std::vector<LeaseRecord> rows;
  /// The largest CommitSeq in it: once durable, everything up to it is.
  CommitSeq last;
  std::uint32_t attempts = 0;
};

/// Group commit as a pure policy: while one batch is with the store the next one fills; no timer.
/// A batch that failed stays sealed and is handed out again, so nothing is lost and order holds.
/// Memory is bounded: gathering and sealed each hold at most `rows_max` rows, reserved at
/// construction. No threads, no I/O.
class CommitQueue {
 public:
  /// rows_max: 1-65536.
  explicit CommitQueue(std::size_t rows_max);

  /// How many more mutations Append takes now. This is the credit the scheduler shares out.
  std::size_t Free() const { return rows_max_ - gathering_.rows.size(); }
  /// Queues one row and returns its number. Free() >= 1 (checked). A second row for an address that
  /// is still gathering replaces the first.
  CommitSeq Append(const LeaseRecord& record);
  /// The batch to give to the store now, or nullptr when one is with the store already or nothing
  /// waits. The batch stays valid and unchanged until OnResult.
  const LeaseBatch* Seal();
  bool in_flight() const { return in_flight_; }
  /// A failed or unknown batch waits for its next Seal().
  bool has_retry() const { return !in_flight_ && !sealed_.rows.empty(); }
  /// The store's answer for the batch last sealed. On kDurable durable_seq() advances; the rows of
  /// the batch remain readable through last_durable_rows() until the next Seal or Append.
  void OnResult(BatchOutcome outcome);
  std::span<const LeaseRecord> last_durable_rows() const { return durable_rows_; }

  CommitSeq durable_seq() const { return durable_; }
  CommitSeq last_seq() const { return last_; }
  /// Rows that wait or are with the store.
  std::size_t pending_rows() const { return gathering_.rows.size() + sealed_.rows.size(); }

 private:
  std::size_t rows_max_;
  LeaseBatch gathering_;
  LeaseBatch sealed_;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> position_;  // address -> index in gathering_
  std::span<const LeaseRecord> durable_rows_;
  bool in_flight_ = false;
  CommitSeq last_;
  CommitSeq durable_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_COMMIT_QUEUE_H_
