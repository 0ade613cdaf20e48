#ifndef RINGDHCP_STORAGE_POSTGRES_POSTGRES_SESSION_H_
#define RINGDHCP_STORAGE_POSTGRES_POSTGRES_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/lease/lease.h"
#include "storage/postgres/migrations.h"
#include "storage/postgres/postgres_options.h"
#include "storage/postgres/row_text.h"
#include "storage/postgres/socket_guard.h"

namespace ringdhcp {

/// What the database knows of this server.
struct ServerRecord {
  /// Uuid of the local store whose outbox `position` counts; empty: none yet.
  std::string store;
  /// Every change up to here is in the database.
  std::uint64_t position = 0;
};

/// A run of the server, for ownership of its row: a new one for each start of the program.
struct ServerRun {
  std::string session;           // a UUID
  std::int32_t backend_pid = 0;  // of the connection before, 0: none; it may be cut
};

/// One step of the schema as the database has it.
struct AppliedMigration {
  int number = 0;
  std::string name;
  std::string applied;  // when; empty: not yet
};

/// One connection to PostgreSQL. No exception leaves it. After an error the connection is not to be
/// used any more. Errors: kFailedPrecondition when it makes no sense to go on before somebody has
/// acted (newer schema, server id in use), else kUnavailable, with cause and remedy. Blocks, but no
/// longer than the time limits of the options. One thread at a time.
class PostgresSession {
 public:
  /// `guard` outlives the session and serves no other one meanwhile.
  static absl::StatusOr<std::unique_ptr<PostgresSession>> Connect(const PostgresOptions& options,
                                                                  SocketGuard& guard);
  ~PostgresSession();
  PostgresSession(const PostgresSession&) = delete;
  PostgresSession& operator=(const PostgresSession&) = delete;

  /// Applies what is missing, in one transaction, one program at a time. Returns how many steps.
  absl::StatusOr<int> Migrate();
  /// Every step this program knows, and later ones that the database has.
  absl::StatusOr<std::vector<AppliedMigration>> MigrationStatus();
  /// Refuses a schema that is newer than this program; an older one is migrated, or refused if the
  /// options say so.
  absl::Status CheckSchema();

  /// Makes this connection the only one that may write as options.server_id, until it ends.
  /// kFailedPrecondition, with host and process, when a live server uses the id.
  absl::StatusOr<ServerRecord> TakeServer(const ServerRun& run);
  /// From now on positions count the outbox of the local store `uuid`.
  absl::Status AdoptStore(const std::string& uuid);
  /// Publishes the subnets and maintains the partitions of the history, for SQL users. Every hour.
  absl::Status Maintain();
  /// Prepares Write; after TakeServer.
  absl::Status PrepareWrite();
  /// Stores `rows` (one per address) and `position`, in one transaction. A stored row with the same
  /// or a larger version stays. On an error the outcome is unknown; TakeServer of the next
  /// connection tells it.
  absl::Status Write(std::span<const LeaseRecord* const> rows, std::uint64_t position);
  /// Is the server there?
  absl::Status Ping();
  /// Calls `row` for each lease of this server or inside its subnets, by COPY.
  absl::Status LoadLeases(const std::function<void(const LeaseRecord&)>& row);

  std::int32_t backend_pid() const;
  /// "host:port" or the socket's directory, for the log.
  std::string peer() const;

 private:
  struct Impl;
  explicit PostgresSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A random UUID in its text form.
std::string RandomUuid();

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_POSTGRES_SESSION_H_
