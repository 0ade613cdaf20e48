#ifndef RINGDHCP_STORAGE_POSTGRES_REPLICATED_LEASE_STORE_H_
#define RINGDHCP_STORAGE_POSTGRES_REPLICATED_LEASE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "server/base/logger.h"
#include "storage/outbox.h"
#include "storage/postgres/replicator.h"

namespace ringdhcp {

/// A local store whose commits a replicator sends to PostgreSQL. With `wait` a commit is durable
/// when PostgreSQL has it, so it lasts as long as PostgreSQL is away; else when it is in the local
/// store. Warns in the log before the outbox reaches `outbox_rows_max`.
class ReplicatedLeaseStore final : public LeaseStore {
 public:
  /// All of them outlive this.
  ReplicatedLeaseStore(JournalStore& local, Replicator& replicator, bool wait,
                       std::uint64_t outbox_rows_max, Logger& logger);
  absl::Status LoadAll(const std::function<void(const LeaseRecord&)>& row) override;
  BatchResult Commit(std::span<const LeaseRecord> rows) override;
  std::string_view name() const override { return "local"; }

 private:
  void WatchOutbox(const OutboxEnds& ends);

  JournalStore& local_;
  Replicator& replicator_;
  const bool wait_;
  const std::uint64_t outbox_rows_max_;
  Logger& logger_;
  bool warned_ = false;
  bool resyncing_ = false;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_REPLICATED_LEASE_STORE_H_
