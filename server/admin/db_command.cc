#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "server/admin/commands.h"
#include "server/admin/replication.h"
#include "server/config/loader.h"
#include "storage/postgres/postgres_session.h"

namespace ringdhcp {
namespace {

int Fail(const absl::Status& status) {
  std::cerr << "ringdhcp: " << status.message() << "\n";
  return 1;
}

int PrintStatus(PostgresSession& session) {
  const absl::StatusOr<std::vector<AppliedMigration>> list = session.MigrationStatus();
  if (!list.ok()) return Fail(list.status());
  bool missing = false;
  bool newer = false;
  for (const AppliedMigration& migration : *list) {
    std::cout << migration.number << "  " << migration.name << ": "
              << (migration.applied.empty() ? "missing" : "applied " + migration.applied) << "\n";
    missing = missing || migration.applied.empty();
    newer = newer || migration.number > NewestSchema();
  }
  if (newer) {
    std::cerr << "ringdhcp: the schema is newer than this ringdhcp, which knows version "
              << NewestSchema() << "\n";
  }
  return missing || newer ? 1 : 0;
}

}  // namespace

int ManageDatabase(DatabaseAction action, const std::string& config_path) {
  const LoadResult result = LoadConfigFile(config_path);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    std::cerr << diagnostic.ToString() << "\n";
  }
  if (!result.ok()) return 1;
  if (!result.config.postgresql.has_value()) {
    std::cerr << "ringdhcp: " << config_path << " has no section storage.postgresql\n";
    return 1;
  }
  SocketGuard guard;
  auto session = PostgresSession::Connect(MakePostgresOptions(result.config), guard);
  if (!session.ok()) return Fail(session.status());
  if (action == DatabaseAction::kStatus) return PrintStatus(**session);
  const absl::StatusOr<int> applied = (*session)->Migrate();
  if (!applied.ok()) return Fail(applied.status());
  std::cout << "steps applied: " << *applied << "\n";
  return PrintStatus(**session);
}

}  // namespace ringdhcp
