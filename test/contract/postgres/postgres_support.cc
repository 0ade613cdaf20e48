#include "test/contract/postgres/postgres_support.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/base/check.h"

namespace ringdhcp {

void RecordingLogger::Write(Level /*level*/, std::string_view message,
                            std::initializer_list<Field> fields) {
  std::string line(message);
  for (const Field& field : fields) {
    line.append(" ").append(field.first).append("=").append(field.second);
  }
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<std::string> RecordingLogger::Lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

int RecordingLogger::Count(const std::string& text) const {
  int count = 0;
  for (const std::string& line : Lines()) count += line.find(text) != std::string::npos ? 1 : 0;
  return count;
}

bool Eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

PostgresOptions TestOptions(const std::string& connection, const std::string& server_id) {
  PostgresOptions options;
  options.connection = connection;
  options.server_id = server_id;
  options.connect_timeout_s = 2;
  options.statement_timeout_s = 2;
  options.subnets = {{1, "10.0.0.0/8", 1000}};
  return options;
}

std::unique_ptr<PostgresSession> OpenSession(const PostgresOptions& options, SocketGuard& guard) {
  auto session = PostgresSession::Connect(options, guard);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return nullptr;
  const absl::Status schema = (*session)->CheckSchema();
  EXPECT_TRUE(schema.ok()) << schema;
  return *std::move(session);
}

RowMap LoadTable(const std::string& connection) {
  SocketGuard guard;
  PostgresOptions options = TestOptions(connection, "reader");
  options.statement_timeout_s = 30;
  options.subnets = {{1, "0.0.0.0/0", 1000}};
  const auto session = OpenSession(options, guard);
  RowMap rows;
  if (session == nullptr) return rows;
  const absl::Status loaded = session->LoadLeases([&rows](const LeaseRecord& row) {
    EXPECT_TRUE(rows.emplace(row.address.value, row).second) << row.address.ToString();
  });
  EXPECT_TRUE(loaded.ok()) << loaded;
  return rows;
}

Feeder::Feeder(PostgresOptions options, std::uint64_t outbox_rows_max)
    : outbox_rows_max_(outbox_rows_max) {
  options_.postgres = std::move(options);
  options_.backoff_max = std::chrono::milliseconds(500);
  OpenStore();
}

Feeder::~Feeder() { StopReplicator(); }

void Feeder::OpenStore() {
  LocalStoreOptions options;
  options.directory = directory_.path();
  options.outbox = true;
  options.outbox_rows_max = outbox_rows_max_;
  auto store = OpenLocalLeaseStore(options);
  RINGDHCP_CHECK(store.ok());
  store_ = *std::move(store);
}

void Feeder::StartReplicator() {
  replicator_.reset();
  ServerRun run;
  run.session = session_;
  replicator_ = std::make_unique<Replicator>(options_, *store_, store_->Uuid(), run,
                                             std::make_unique<SocketGuard>(), nullptr,
                                             ServerRecord(), logger_);
}

void Feeder::StopReplicator() { replicator_.reset(); }

void Feeder::Restart() {
  StopReplicator();
  store_.reset();
  OpenStore();
  StartReplicator();
}

void Feeder::Commit(const std::vector<LeaseRecord>& rows) {
  CommitDurably(*store_, rows);
  if (replicator_ != nullptr) replicator_->Committed(store_->Ends().last);
}

void Feeder::Touch(std::uint32_t address) { Commit({SmallRow(address, ++versions_[address])}); }

void Feeder::ExpectSameTable(const std::string& connection, std::chrono::milliseconds limit) {
  EXPECT_TRUE(Eventually(
      [this] {
        return replicator_->Status().lag_rows == 0 && !store_->Ends().resync_through.has_value();
      },
      limit))
      << "lag " << replicator_->Status().lag_rows << ", " << replicator_->Status().cause;
  ExpectSameRows(LoadTable(connection), Load(*store_));
}

bool Feeder::WaitState(ReplicationState state, std::chrono::milliseconds limit) {
  return Eventually([this, state] { return replicator_->Status().state == state; }, limit);
}

}  // namespace ringdhcp
