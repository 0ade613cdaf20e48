#include "storage/postgres/replicator.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "storage/postgres/lag_clock.h"

namespace ringdhcp {

namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// An idle connection is tried so often, so that the state that is shown is true.
constexpr std::chrono::seconds kPingEvery(5);
constexpr std::chrono::hours kMaintainEvery(1);
constexpr std::chrono::seconds kTrimEvery(1);
constexpr std::uint64_t kTrimRows = 20000;
// Catching up, a pause of half the time that a batch took follows it.
constexpr int kPauseDivisor = 2;
// Behind by so much, a connected replicator counts as catching up.
constexpr std::uint64_t kBacklogRows = 50000;

std::int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(SteadyClock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string_view ReplicationStateName(ReplicationState state) {
  static constexpr std::array<std::string_view, kReplicationStates> kNames = {
      "connecting", "streaming", "catching_up", "unavailable", "refused"};
  return kNames[static_cast<std::size_t>(state)];
}

struct Replicator::Impl {
  Impl(ReplicatorOptions given, Outbox& from, std::string uuid, ServerRun server_run, Logger& log)
      : options(std::move(given)),
        outbox(from),
        store_uuid(std::move(uuid)),
        run(std::move(server_run)),
        logger(log),
        batch_limit(options.postgres.batch_rows_min),
        backoff(options.backoff_min) {
    metrics.batch_limit.Set(batch_limit);
  }

  void Run();
  void Connect();
  absl::Status OpenSession();
  absl::Status Adopt(const ServerRecord& record);
  /// One round of sending. False when there was nothing to do.
  bool Step();
  bool SendBatch();
  bool SendResync();
  bool Write(std::uint64_t position);
  void AdaptBatch(std::size_t read);
  void Trim(bool now);
  bool Maintain();
  void WaitForWork();
  void Pause(SteadyClock::duration spent);
  void SetSent(std::uint64_t position, bool raise_only);
  void Fail(const absl::Status& status);
  void SetState(ReplicationState state, const std::string& cause);
  bool DurableLocked(std::uint64_t position) const;
  std::uint64_t LagLocked(const OutboxEnds& ends) const {
    return ends.last > sent ? ends.last - sent : 0;
  }

  const ReplicatorOptions options;
  Outbox& outbox;
  const std::string store_uuid;
  ServerRun run;
  Logger& logger;
  ReplicationMetrics metrics;
  std::unique_ptr<SocketGuard> guard;

  // The thread's own.
  std::unique_ptr<PostgresSession> session;
  bool connected_before = false;
  bool backlog = false;  // the last batch left rows behind
  std::size_t batch_limit;
  milliseconds backoff;
  std::vector<OutboxRow> batch;
  std::vector<LeaseRecord> leases;
  std::vector<const LeaseRecord*> rows;
  absl::flat_hash_map<std::uint32_t, std::size_t> index;  // address -> place in `rows`
  std::optional<std::uint64_t> resync_through;            // of the resync under way
  std::optional<std::uint32_t> resync_address;            // the last address sent of it
  SteadyClock::time_point pinged;
  SteadyClock::time_point maintained;
  SteadyClock::time_point trimmed;

  mutable std::mutex mutex;          // guards the rest
  std::condition_variable work;      // for the thread
  std::condition_variable progress;  // for those who wait
  std::uint64_t sent = 0;            // PostgreSQL has every outbox row up to here
  std::uint64_t committed = 0;
  int waiting = 0;
  bool cancelled = false;
  bool stopping = false;
  ReplicationState state = ReplicationState::kConnecting;
  std::string cause;
  LagClock lag;
  std::thread thread;
};

void Replicator::Impl::Run() {
  pthread_setname_np(pthread_self(), "ringdhcp-pg");
  while (true) {
    {
      const std::lock_guard lock(mutex);
      if (stopping) break;
    }
    if (session == nullptr) {
      Connect();
      continue;
    }
    if (!Maintain()) continue;
    if (!Step() && session != nullptr) WaitForWork();
  }
  Trim(true);
  session.reset();
}

void Replicator::Impl::Connect() {
  const absl::Status opened = OpenSession();
  if (opened.ok()) {
    backoff = options.backoff_min;
    if (connected_before) metrics.reconnects.Add();
    connected_before = true;
    pinged = maintained = SteadyClock::now();
    const OutboxEnds ends = outbox.Ends();
    bool behind = false;
    {
      const std::lock_guard lock(mutex);
      behind = LagLocked(ends) > options.postgres.batch_rows_max || ends.resync_through.has_value();
    }
    SetState(behind ? ReplicationState::kCatchingUp : ReplicationState::kStreaming, "");
    return;
  }
  Fail(opened);
  std::unique_lock lock(mutex);
  work.wait_for(lock, backoff, [this] { return stopping; });
  backoff = std::min(backoff * 2, options.backoff_max);
}

absl::Status Replicator::Impl::OpenSession() {
  auto connected = PostgresSession::Connect(options.postgres, *guard);
  if (!connected.ok()) return connected.status();
  std::unique_ptr<PostgresSession> fresh = *std::move(connected);
  if (absl::Status schema = fresh->CheckSchema(); !schema.ok()) return schema;
  const absl::StatusOr<ServerRecord> record = fresh->TakeServer(run);
  if (!record.ok()) return record.status();
  run.backend_pid = fresh->backend_pid();
  if (record->store != store_uuid) {
    const OutboxEnds ends = outbox.Ends();
    if (!record->store.empty() && record->position > ends.last) {
      return absl::FailedPreconditionError(
          "PostgreSQL has leases of this server that its local store lacks: restart ringdhcp while "
          "PostgreSQL can be reached, to load them");
    }
    // To a database that is new to this server, an outbox that was never trimmed tells everything.
    if (!record->store.empty() || ends.trimmed > 0) {
      if (absl::Status marked = outbox.BeginResync(); !marked.ok()) return marked;
    }
    if (absl::Status adopted = fresh->AdoptStore(store_uuid); !adopted.ok()) return adopted;
  }
  if (absl::Status adopted = Adopt(*record); !adopted.ok()) return adopted;
  if (absl::Status maintained_now = fresh->Maintain(); !maintained_now.ok()) return maintained_now;
  if (absl::Status prepared = fresh->PrepareWrite(); !prepared.ok()) return prepared;
  session = std::move(fresh);
  return absl::OkStatus();
}

/// Goes on from where the database says that it is: further than known here after a commit whose
/// answer was lost, less far after a failover to one that had not received everything.
absl::Status Replicator::Impl::Adopt(const ServerRecord& record) {
  const OutboxEnds ends = outbox.Ends();
  if (record.position > ends.last) {
    return absl::FailedPreconditionError(
        "PostgreSQL is ahead of the local store: restart ringdhcp while PostgreSQL can be reached, "
        "to load what is missing");
  }
  if (record.position < ends.trimmed && !ends.resync_through.has_value()) {
    if (absl::Status marked = outbox.BeginResync(); !marked.ok()) return marked;
    logger.Warning(
        "PostgreSQL lacks changes that it had confirmed: all leases are sent again",
        {{"confirmed", absl::StrCat(ends.trimmed)}, {"present", absl::StrCat(record.position)}});
  }
  resync_through.reset();
  SetSent(record.position, false);
  return absl::OkStatus();
}

bool Replicator::Impl::Step() {
  const auto begin = SteadyClock::now();
  const bool sent_batch = SendBatch();
  if (session == nullptr) return true;
  // Changes first: sent after the lease that they led to, they would be missing in the history.
  const bool sent_leases = !backlog && SendResync();
  if (session == nullptr) return true;
  Trim(false);
  if (!sent_batch && !sent_leases) return false;
  Pause(SteadyClock::now() - begin);
  return true;
}

bool Replicator::Impl::SendBatch() {
  backlog = false;
  std::uint64_t after = 0;
  {
    const std::lock_guard lock(mutex);
    if (committed <= sent) return false;
    after = sent;
  }
  batch.clear();
  const absl::Status read = outbox.ReadFrom(after, batch_limit, batch);
  if (!read.ok()) {
    Fail(read);
    return true;
  }
  if (batch.empty()) return false;
  const std::size_t count = batch.size();
  rows.clear();
  index.clear();
  std::uint64_t position = after;
  for (const OutboxRow& row : batch) {
    const auto [place, is_new] = index.try_emplace(row.record.address.value, rows.size());
    if (is_new) {
      rows.push_back(&row.record);
    } else if (options.postgres.history_days > 0) {
      break;  // each change counts there; this one goes with the next batch
    } else {
      rows[place->second] = &row.record;
    }
    position = row.position;
  }
  if (!Write(position)) return true;
  SetSent(position, true);
  backlog = count >= batch_limit || position < batch.back().position;
  AdaptBatch(count);
  return true;
}

bool Replicator::Impl::SendResync() {
  const OutboxEnds ends = outbox.Ends();
  if (!ends.resync_through.has_value()) return false;
  if (resync_through != ends.resync_through) {
    resync_through = ends.resync_through;
    resync_address.reset();
    SetState(ReplicationState::kCatchingUp, "");
  }
  leases.clear();
  absl::Status status = outbox.ReadLeases(resync_address, options.postgres.batch_rows_max, leases);
  if (status.ok() && leases.empty()) {
    // Every lease was read after the mark was set, so with them all changes up to it were sent.
    rows.clear();
    if (!Write(*resync_through)) return true;
    status = outbox.EndResync(*resync_through);
    if (status.ok()) {
      SetSent(*resync_through, true);
      resync_through.reset();
      return true;
    }
  }
  if (!status.ok()) {
    Fail(status);
    return true;
  }
  rows.clear();
  for (const LeaseRecord& lease : leases) rows.push_back(&lease);
  if (Write(0)) resync_address = leases.back().address.value;
  return true;
}

/// Writes `rows`. False after a failure.
bool Replicator::Impl::Write(std::uint64_t position) {
  // In one order, so that two writers never wait for each other, and neighbours share pages.
  std::sort(rows.begin(), rows.end(),
            [](const LeaseRecord* a, const LeaseRecord* b) { return a->address < b->address; });
  const auto begin = SteadyClock::now();
  const absl::Status written = session->Write(rows, position);
  if (!written.ok()) {
    Fail(written);
    return false;
  }
  const auto end = SteadyClock::now();
  metrics.commit.Record(std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  metrics.batches.Add();
  metrics.rows.Add(rows.size());
  metrics.batch_rows.Set(rows.size());
  pinged = end;
  return true;
}

void Replicator::Impl::AdaptBatch(std::size_t read) {
  if (read >= batch_limit) {
    batch_limit = std::min(batch_limit * 2, options.postgres.batch_rows_max);
  } else if (read < batch_limit / 2) {
    batch_limit = std::max(batch_limit / 2, options.postgres.batch_rows_min);
  }
  metrics.batch_limit.Set(batch_limit);
  const OutboxEnds ends = outbox.Ends();
  std::uint64_t behind = 0;
  ReplicationState now_state{};
  {
    const std::lock_guard lock(mutex);
    behind = LagLocked(ends);
    now_state = state;
  }
  if (now_state == ReplicationState::kCatchingUp && read < options.postgres.batch_rows_max &&
      behind <= options.postgres.batch_rows_max && !ends.resync_through.has_value()) {
    SetState(ReplicationState::kStreaming, "");
  } else if (now_state == ReplicationState::kStreaming && behind > kBacklogRows) {
    SetState(ReplicationState::kCatchingUp, "");
  }
}

void Replicator::Impl::Trim(bool now) {
  const OutboxEnds ends = outbox.Ends();
  std::uint64_t through = 0;
  {
    const std::lock_guard lock(mutex);
    through = std::min(sent, ends.last);
  }
  if (through <= ends.trimmed) return;
  if (!now && through - ends.trimmed < kTrimRows && SteadyClock::now() - trimmed < kTrimEvery) {
    return;
  }
  trimmed = SteadyClock::now();
  // Failing, it leaves rows that are sent once more; the committing thread reports a broken disk.
  outbox.TrimThrough(through).IgnoreError();
}

/// False after a failure.
bool Replicator::Impl::Maintain() {
  const auto now = SteadyClock::now();
  absl::Status status;
  if (now - maintained >= kMaintainEvery) {
    maintained = pinged = now;
    status = session->Maintain();
  } else if (now - pinged >= kPingEvery) {
    pinged = now;
    status = session->Ping();
  }
  if (!status.ok()) Fail(status);
  return status.ok();
}

void Replicator::Impl::WaitForWork() {
  const bool resyncing = outbox.Ends().resync_through.has_value();
  bool caught_up = false;
  {
    const std::lock_guard lock(mutex);
    caught_up = state == ReplicationState::kCatchingUp && committed <= sent && !resyncing;
  }
  if (caught_up) SetState(ReplicationState::kStreaming, "");
  std::unique_lock lock(mutex);
  work.wait_for(lock, kTrimEvery, [this] { return stopping || committed > sent; });
  work.wait_for(lock, options.linger, [this] {
    return stopping || waiting > 0 || committed <= sent ||
           committed - sent >= options.postgres.batch_rows_max;
  });
}

/// Leaves the machine to the live path for a moment while a backlog is worked off.
void Replicator::Impl::Pause(SteadyClock::duration spent) {
  std::unique_lock lock(mutex);
  if (state != ReplicationState::kCatchingUp) return;
  work.wait_for(lock, spent / kPauseDivisor, [this] { return stopping || waiting > 0; });
}

void Replicator::Impl::SetSent(std::uint64_t position, bool raise_only) {
  {
    const std::lock_guard lock(mutex);
    sent = raise_only ? std::max(sent, position) : position;
    committed = std::max(committed, sent);
    lag.TakenThrough(sent);
  }
  progress.notify_all();
}

void Replicator::Impl::Fail(const absl::Status& status) {
  session.reset();
  {
    const std::lock_guard lock(mutex);
    if (stopping) return;
  }
  metrics.failures.Add();
  const bool refused = absl::IsFailedPrecondition(status);
  if (refused) backoff = options.backoff_max;
  SetState(refused ? ReplicationState::kRefused : ReplicationState::kUnavailable,
           std::string(status.message()));
}

void Replicator::Impl::SetState(ReplicationState next, const std::string& why) {
  const OutboxEnds ends = outbox.Ends();
  std::uint64_t behind = 0;
  {
    const std::lock_guard lock(mutex);
    cause = why;
    if (next == state) return;
    state = next;
    behind = LagLocked(ends);
  }
  progress.notify_all();
  const std::string lag_rows = absl::StrCat(behind);
  switch (next) {
    case ReplicationState::kConnecting:
      return;
    case ReplicationState::kStreaming:
      return logger.Info("PostgreSQL: replicating",
                         {{"server_id", options.postgres.server_id}, {"lag_rows", lag_rows}});
    case ReplicationState::kCatchingUp:
      return logger.Info("PostgreSQL: catching up",
                         {{"server_id", options.postgres.server_id}, {"lag_rows", lag_rows}});
    case ReplicationState::kUnavailable:
      return logger.Warning("PostgreSQL: unavailable; the local store keeps what it lacks",
                            {{"cause", why}, {"lag_rows", lag_rows}});
    case ReplicationState::kRefused:
      return logger.Error("PostgreSQL: refused; the local store keeps what it lacks",
                          {{"cause", why}, {"lag_rows", lag_rows}});
  }
}

bool Replicator::Impl::DurableLocked(std::uint64_t position) const {
  if (sent < position) return false;
  const std::optional<std::uint64_t> through = outbox.Ends().resync_through;
  return !through.has_value() || position > *through;
}

Replicator::Replicator(ReplicatorOptions options, Outbox& outbox, std::string store_uuid,
                       ServerRun run, std::unique_ptr<SocketGuard> guard,
                       std::unique_ptr<PostgresSession> session, ServerRecord record,
                       Logger& logger)
    : impl_(std::make_unique<Impl>(std::move(options), outbox, std::move(store_uuid),
                                   std::move(run), logger)) {
  impl_->guard = std::move(guard);
  const OutboxEnds ends = outbox.Ends();
  impl_->committed = ends.last;
  impl_->sent = std::min(ends.last, session != nullptr ? record.position : ends.trimmed);
  if (impl_->committed > impl_->sent) impl_->lag.Appended(ends.last, NowNs());
  if (session != nullptr) {
    impl_->session = std::move(session);
    impl_->run.backend_pid = impl_->session->backend_pid();
    impl_->connected_before = true;
    impl_->pinged = impl_->maintained = SteadyClock::now();
    const bool behind = impl_->committed - impl_->sent > impl_->options.postgres.batch_rows_max ||
                        ends.resync_through.has_value();
    impl_->SetState(behind ? ReplicationState::kCatchingUp : ReplicationState::kStreaming, "");
  }
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Replicator::~Replicator() {
  CancelWaits();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->work.notify_all();
  impl_->guard->CutForGood();
  impl_->thread.join();
}

void Replicator::Committed(std::uint64_t position) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->committed = std::max(impl_->committed, position);
    impl_->lag.Appended(position, NowNs());
  }
  impl_->work.notify_one();
}

absl::Status Replicator::WaitDurable(std::uint64_t position) {
  std::unique_lock lock(impl_->mutex);
  ++impl_->waiting;
  impl_->work.notify_one();
  impl_->progress.wait(lock, [&] { return impl_->cancelled || impl_->DurableLocked(position); });
  --impl_->waiting;
  if (impl_->DurableLocked(position)) return absl::OkStatus();
  return absl::CancelledError("stopped before PostgreSQL had taken the leases");
}

void Replicator::CancelWaits() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->cancelled = true;
  }
  impl_->progress.notify_all();
}

bool Replicator::Drain(milliseconds limit) {
  std::unique_lock lock(impl_->mutex);
  ++impl_->waiting;
  impl_->work.notify_one();
  const std::uint64_t target = impl_->committed;
  impl_->progress.wait_for(lock, limit, [&] {
    return impl_->DurableLocked(target) || impl_->state == ReplicationState::kUnavailable ||
           impl_->state == ReplicationState::kRefused ||
           impl_->state == ReplicationState::kConnecting;
  });
  --impl_->waiting;
  return impl_->DurableLocked(target);
}

ReplicationStatus Replicator::Status() const {
  const OutboxEnds ends = impl_->outbox.Ends();
  const std::lock_guard lock(impl_->mutex);
  ReplicationStatus status;
  status.state = impl_->state;
  status.cause = impl_->cause;
  status.lag_rows = impl_->LagLocked(ends);
  status.lag_seconds = static_cast<double>(impl_->lag.AgeNs(NowNs())) * 1e-9;
  return status;
}

const ReplicationMetrics& Replicator::metrics() const { return impl_->metrics; }

}  // namespace ringdhcp
