#include "storage/postgres/replicated_lease_store.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ringdhcp {

ReplicatedLeaseStore::ReplicatedLeaseStore(JournalStore& local, Replicator& replicator, bool wait,
                                           std::uint64_t outbox_rows_max, Logger& logger)
    : local_(local),
      replicator_(replicator),
      wait_(wait),
      outbox_rows_max_(outbox_rows_max),
      logger_(logger),
      resyncing_(local.Ends().resync_through.has_value()) {}

absl::Status ReplicatedLeaseStore::LoadAll(const std::function<void(const LeaseRecord&)>& row) {
  return local_.LoadAll(row);
}

BatchResult ReplicatedLeaseStore::Commit(std::span<const LeaseRecord> rows) {
  const BatchResult local = local_.Commit(rows);
  if (local.outcome != BatchOutcome::kDurable) return local;
  const OutboxEnds ends = local_.Ends();
  replicator_.Committed(ends.last);
  WatchOutbox(ends);
  if (!wait_) return local;
  absl::Status status = replicator_.WaitDurable(ends.last);
  if (status.ok()) return local;
  return {BatchOutcome::kUnknown, std::move(status)};
}

void ReplicatedLeaseStore::WatchOutbox(const OutboxEnds& ends) {
  const bool compacted = ends.resync_through.has_value() && !resyncing_ && ends.rows() == 0;
  resyncing_ = ends.resync_through.has_value();
  if (compacted) {
    logger_.Error(
        "the outbox for PostgreSQL has reached its limit and was compacted: the last state of each "
        "lease is kept and will be sent, earlier changes won't be in the history",
        {{"outbox_rows_max", absl::StrCat(outbox_rows_max_)}});
  }
  const bool near = ends.rows() >= outbox_rows_max_ / 5 * 4;
  if (near && !warned_) {
    logger_.Warning(
        "the outbox for PostgreSQL is nearly full; at its limit it will be compacted",
        {{"rows", absl::StrCat(ends.rows())}, {"outbox_rows_max", absl::StrCat(outbox_rows_max_)}});
  }
  if (near) warned_ = true;
  if (ends.rows() < outbox_rows_max_ / 2 && !compacted) warned_ = false;
}

}  // namespace ringdhcp
