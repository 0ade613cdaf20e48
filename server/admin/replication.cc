#include "server/admin/replication.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/postgres/bootstrap.h"

namespace ringdhcp {

namespace {

constexpr std::chrono::milliseconds kRetryEvery(1000);
constexpr std::chrono::milliseconds kLookEvery(50);

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "ringdhcp";
  return name.data();
}

struct Opened {
  std::unique_ptr<PostgresSession> session;
  ServerRecord record;
};

absl::StatusOr<Opened> Open(const PostgresOptions& options, JournalStore& store,
                            const ServerRun& run, SocketGuard& guard, Logger& logger) {
  auto session = PostgresSession::Connect(options, guard);
  if (!session.ok()) return session.status();
  PostgresSession& opened = **session;
  if (absl::Status schema = opened.CheckSchema(); !schema.ok()) return schema;
  const absl::StatusOr<ServerRecord> record = opened.TakeServer(run);
  if (!record.ok()) return record.status();
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<BootstrapResult> result = Bootstrap(store, opened, *record);
  if (!result.ok()) return result.status();
  if (absl::Status maintained = opened.Maintain(); !maintained.ok()) return maintained;
  if (absl::Status prepared = opened.PrepareWrite(); !prepared.ok()) return prepared;
  if (result->compared) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    logger.Info("compared the local store with PostgreSQL",
                {{"in_postgresql", absl::StrCat(result->in_postgres)},
                 {"loaded", absl::StrCat(result->loaded)},
                 {"to_send", absl::StrCat(result->kept)},
                 {"milliseconds", absl::StrCat(took.count())}});
  }
  if (result->conflicts > 0) {
    logger.Warning(
        "leases differed at the same version; the one acknowledged later was taken",
        {{"leases", absl::StrCat(result->conflicts)}, {"first", result->first_conflict}});
  }
  return Opened{*std::move(session), *record};
}

void Sleep(std::chrono::milliseconds duration, const std::function<bool()>& stopping) {
  for (auto slept = kLookEvery; slept < duration && !stopping(); slept += kLookEvery) {
    std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace

PostgresOptions MakePostgresOptions(const ServerConfig& config) {
  const PostgresqlConfig& section = *config.postgresql;
  PostgresOptions options;
  options.connection = section.connection;
  options.server_id = section.server_id.empty() ? HostName() : section.server_id;
  options.migrate = section.migrate;
  options.connect_timeout_s = section.connect_timeout_s;
  options.statement_timeout_s = section.statement_timeout_s;
  options.batch_rows_max = section.batch_rows_max;
  options.history_days = section.history_days;
  for (const Subnet& subnet : config.subnets) {
    std::uint64_t addresses = 0;
    for (const Pool& pool : subnet.pools) addresses += pool.Size();
    options.subnets.push_back({subnet.id.value, subnet.prefix.ToString(), addresses});
  }
  return options;
}

absl::StatusOr<std::unique_ptr<Replicator>> StartReplication(
    const ServerConfig& config, JournalStore& store, Logger& logger,
    const std::function<bool()>& stopping) {
  ReplicatorOptions options;
  options.postgres = MakePostgresOptions(config);
  auto guard = std::make_unique<SocketGuard>();
  ServerRun run;
  run.session = RandomUuid();
  Opened opened;
  bool waiting = false;
  while (true) {
    absl::StatusOr<Opened> tried = Open(options.postgres, store, run, *guard, logger);
    if (tried.ok()) {
      opened = *std::move(tried);
      break;
    }
    if (absl::IsFailedPrecondition(tried.status())) return tried.status();
    const absl::StatusOr<bool> has_leases = HasLeases(store);
    if (!has_leases.ok()) return has_leases.status();
    const std::string cause(tried.status().message());
    if (*has_leases) {
      logger.Warning("PostgreSQL: unavailable; starting with the leases of the local store",
                     {{"cause", cause}});
      break;
    }
    if (!waiting) {
      logger.Warning(
          "PostgreSQL: unavailable; the local store is empty, so leases may be there: waiting",
          {{"cause", cause}});
    }
    waiting = true;
    Sleep(kRetryEvery, stopping);
    if (stopping()) return absl::CancelledError("stopped while waiting for PostgreSQL");
  }
  return std::make_unique<Replicator>(std::move(options), store, store.Uuid(), std::move(run),
                                      std::move(guard), std::move(opened.session), opened.record,
                                      logger);
}

}  // namespace ringdhcp
