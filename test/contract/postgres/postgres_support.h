#ifndef RINGDHCP_TEST_CONTRACT_POSTGRES_POSTGRES_SUPPORT_H_
#define RINGDHCP_TEST_CONTRACT_POSTGRES_POSTGRES_SUPPORT_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/base/logger.h"
#include "storage/local/local_lease_store.h"
#include "storage/postgres/postgres_session.h"
#include "storage/postgres/replicator.h"
#include "test/contract/postgres/cluster.h"
#include "test/contract/store/store_support.h"

namespace ringdhcp {

/// Keeps what was logged. Any thread.
class RecordingLogger final : public Logger {
 public:
  void Write(Level level, std::string_view message, std::initializer_list<Field> fields) override;
  /// Lines "message key=value...", oldest first.
  std::vector<std::string> Lines() const;
  /// How many lines contain `text`.
  int Count(const std::string& text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Tries every 10 ms until `condition` holds; false when `limit` has passed.
bool Eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds(30));

PostgresOptions TestOptions(const std::string& connection, const std::string& server_id = "one");

/// A connected session with a schema, or a test failure and null.
std::unique_ptr<PostgresSession> OpenSession(const PostgresOptions& options, SocketGuard& guard);

/// Everything in ringdhcp.leases.
RowMap LoadTable(const std::string& connection);

/// A local store with outbox in a directory, and its replicator.
class Feeder {
 public:
  explicit Feeder(PostgresOptions options, std::uint64_t outbox_rows_max = 0);
  ~Feeder();

  /// (Re)starts the replicator, without a connection; it makes one.
  void StartReplicator();
  void StopReplicator();
  /// Ends both and opens the store anew, as a restart of the server does.
  void Restart();
  /// Commits to the local store and tells the replicator.
  void Commit(const std::vector<LeaseRecord>& rows);
  /// Commits one row of `address` with its next version.
  void Touch(std::uint32_t address);
  /// Waits until everything is sent and expects the table to be the local store, row by row.
  void ExpectSameTable(const std::string& connection,
                       std::chrono::milliseconds limit = std::chrono::seconds(40));
  bool WaitState(ReplicationState state,
                 std::chrono::milliseconds limit = std::chrono::seconds(30));

  JournalStore& store() { return *store_; }
  Replicator& replicator() { return *replicator_; }
  RecordingLogger& logger() { return logger_; }
  const std::string& directory() const { return directory_.path(); }

 private:
  void OpenStore();

  TemporaryDirectory directory_;
  RecordingLogger logger_;
  ReplicatorOptions options_;
  std::uint64_t outbox_rows_max_;
  std::string session_ = RandomUuid();
  std::map<std::uint32_t, std::uint64_t> versions_;
  std::unique_ptr<JournalStore> store_;
  std::unique_ptr<Replicator> replicator_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_POSTGRES_POSTGRES_SUPPORT_H_
