#ifndef RINGDHCP_SERVER_ADMIN_REPLICATION_H_
#define RINGDHCP_SERVER_ADMIN_REPLICATION_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "server/base/logger.h"
#include "server/config/server_config.h"
#include "storage/outbox.h"
#include "storage/postgres/postgres_options.h"
#include "storage/postgres/replicator.h"

namespace ringdhcp {

/// The options of the section storage.postgresql, which must be there.
PostgresOptions MakePostgresOptions(const ServerConfig& config);

/// Brings `store` up to date with PostgreSQL and starts its replicator. While PostgreSQL can't be
/// reached it goes on with the leases of the store; with an empty store, which may be one whose
/// leases only PostgreSQL knows, it waits and tries again until `stopping` says true (kCancelled).
/// Fails when somebody must act first: a newer schema, a server id that is in use. `store` and
/// `logger` outlive the replicator. Starting thread.
absl::StatusOr<std::unique_ptr<Replicator>> StartReplication(const ServerConfig& config,
                                                             JournalStore& store, Logger& logger,
                                                             const std::function<bool()>& stopping);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_REPLICATION_H_
