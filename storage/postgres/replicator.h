#ifndef RINGDHCP_STORAGE_POSTGRES_REPLICATOR_H_
#define RINGDHCP_STORAGE_POSTGRES_REPLICATOR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/base/counter.h"
#include "server/base/logger.h"
#include "storage/outbox.h"
#include "storage/postgres/postgres_options.h"
#include "storage/postgres/postgres_session.h"

namespace ringdhcp {

enum class ReplicationState : std::uint8_t {
  kConnecting,   // the first connection since the start
  kStreaming,    // changes reach PostgreSQL as they come
  kCatchingUp,   // connected, with a backlog
  kUnavailable,  // PostgreSQL does not take them; tried again and again
  kRefused,      // somebody has to act: newer schema, server id in use, older local store
};
inline constexpr std::size_t kReplicationStates = 5;
/// "connecting", "streaming", "catching_up", "unavailable", "refused".
std::string_view ReplicationStateName(ReplicationState state);

/// Counted by the replicator's thread, read by any.
struct ReplicationMetrics {
  Counter rows;         // sent, one per address and batch
  Counter batches;      // committed
  Counter failures;     // connections or writes that failed
  Counter reconnects;   // connections after the first
  Counter batch_rows;   // rows of the last batch
  Counter batch_limit;  // rows the next batch may have
  DurationHistogram commit;
};

struct ReplicationStatus {
  ReplicationState state = ReplicationState::kConnecting;
  std::string cause;  // of kUnavailable and kRefused
  std::uint64_t lag_rows = 0;
  /// Age of the oldest change that PostgreSQL lacks; of what an earlier run left, since this start.
  double lag_seconds = 0;
};

struct ReplicatorOptions {
  PostgresOptions postgres;
  /// Changes gather so long before they are sent, unless somebody waits for them.
  std::chrono::milliseconds linger{20};
  std::chrono::milliseconds backoff_min{100};
  std::chrono::milliseconds backoff_max{5000};
};

/// Sends what the outbox of the local store gathers to PostgreSQL: in order, the last write of each
/// address of a batch, with the position in the same transaction, so that a batch whose fate is
/// unknown is just sent again. Has a thread of its own, which waits for the database so that nobody
/// else does. While PostgreSQL is away the outbox grows; then it catches up, with pauses, so that
/// the live path gets its share of the machine.
class Replicator {
 public:
  /// `outbox`, `logger` and what they use outlive the replicator. `store_uuid` is that of the
  /// outbox's store. `guard` is the one `session` was made with; `session` may be null: connect
  /// later. `run` is that of the session's TakeServer.
  Replicator(ReplicatorOptions options, Outbox& outbox, std::string store_uuid, ServerRun run,
             std::unique_ptr<SocketGuard> guard, std::unique_ptr<PostgresSession> session,
             ServerRecord record, Logger& logger);
  /// Ends the thread; what was not sent is sent after the next start.
  ~Replicator();
  Replicator(const Replicator&) = delete;
  Replicator& operator=(const Replicator&) = delete;

  /// The outbox has grown up to `position`. Any thread; does not wait.
  void Committed(std::uint64_t position);
  /// Waits until PostgreSQL has everything up to `position` on disk: OK; or until Stop:
  /// kCancelled. Any thread.
  absl::Status WaitDurable(std::uint64_t position);
  /// Nobody waits any longer, and no new wait begins.
  void CancelWaits();
  /// Waits, up to `limit`, until everything is sent. False if it isn't, at once if PostgreSQL is
  /// not there.
  bool Drain(std::chrono::milliseconds limit);

  /// Any thread.
  ReplicationStatus Status() const;
  const ReplicationMetrics& metrics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_REPLICATOR_H_
