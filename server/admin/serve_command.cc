#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/admin/commands.h"
#include "server/admin/health.h"
#include "server/admin/http_server.h"
#include "server/admin/log.h"
#include "server/admin/metrics.h"
#include "server/admin/port_owner_watch.h"
#include "server/admin/replication.h"
#include "server/admin/signal_watcher.h"
#include "server/admin/system_clock.h"
#include "server/admin/version.h"
#include "server/config/loader.h"
#include "server/io/link_monitor.h"
#include "server/io/sockets.h"
#include "server/io/uring_ring.h"
#include "server/shard/shard.h"
#include "storage/local/local_lease_store.h"
#include "storage/memory/memory_lease_store.h"
#include "storage/postgres/replicated_lease_store.h"
#include "storage/store_thread.h"

namespace ringdhcp {
namespace {

constexpr std::int64_t kDrainMaxNs = 5 * kNanosecondsPerSecond;
constexpr std::chrono::seconds kLogFlushMax{2};

/// PostgreSQL gets what is left for so long after the last packet.
constexpr std::chrono::milliseconds kReplicationDrainMax(2000);

/// Where leases are kept. The journal and the replicator are null without PostgreSQL; the store
/// uses them.
struct Stores {
  std::unique_ptr<JournalStore> journal;
  std::unique_ptr<Replicator> replicator;
  std::unique_ptr<LeaseStore> store;
};

absl::StatusOr<Stores> OpenStores(const ServerConfig& config, Logger& logger,
                                  const std::function<bool()>& stopping) {
  Stores stores;
  if (config.storage == StorageType::kMemory) {
    stores.store = MakeMemoryLeaseStore();
    return stores;
  }
  LocalStoreOptions options;
  options.directory = config.storage_directory;
  options.outbox = config.postgresql.has_value();
  if (options.outbox) options.outbox_rows_max = config.postgresql->outbox_rows_max;
  auto local = OpenLocalLeaseStore(options);
  if (!local.ok()) return local.status();
  if (!options.outbox) {
    stores.store = *std::move(local);
    return stores;
  }
  stores.journal = *std::move(local);
  auto replicator = StartReplication(config, *stores.journal, logger, stopping);
  if (!replicator.ok()) return replicator.status();
  stores.replicator = *std::move(replicator);
  stores.store = std::make_unique<ReplicatedLeaseStore>(
      *stores.journal, *stores.replicator, config.durability == Durability::kPostgresql,
      options.outbox_rows_max, logger);
  return stores;
}

std::unique_ptr<LeaseEngine> MakeEngine(const ServerConfig& config) {
  EngineConfig engine;
  engine.subnets = config.subnets;
  engine.offer_hold_s = config.offer_hold_s;
  engine.reply_delay_max_ns = Limits().reply_delay_max_ns();
  engine.decline_probation_s = config.decline_probation_s;
  engine.cache_threshold = config.cache_threshold;
  std::random_device random;
  const std::uint64_t seed = (std::uint64_t{random()} << 32) | random();
  return std::make_unique<LeaseEngine>(std::move(engine), seed);
}

absl::Status LoadLeases(LeaseStore& store, bool skip_damaged, LeaseEngine& engine, Clock& clock,
                        Logger& logger) {
  const Now begin = clock.Read();
  std::uint64_t loaded = 0;
  std::uint64_t outside = 0;
  absl::Status status = store.LoadAll(
      [&](const LeaseRecord& row) { ++(engine.Load(row, begin) ? loaded : outside); });
  if (absl::IsDataLoss(status) && skip_damaged) {
    logger.Error("going on without leases that can't be read: their addresses may be given again",
                 {{"cause", std::string(status.message())}});
  } else if (absl::IsDataLoss(status)) {
    return absl::DataLossError(
        absl::StrCat(status.message(), ", by ringdhcp serve --skip-damaged-leases"));
  } else if (!status.ok()) {
    return status;
  }
  const std::int64_t took_ms =
      (clock.Read().monotonic_ns - begin.monotonic_ns) / kNanosecondsPerMillisecond;
  logger.Info("leases loaded", {{"store", std::string(store.name())},
                                {"leases", absl::StrCat(loaded)},
                                {"milliseconds", absl::StrCat(took_ms)}});
  if (outside > 0) {
    logger.Warning("leases outside every pool are kept in the store but not served",
                   {{"leases", absl::StrCat(outside)}});
  }
  return absl::OkStatus();
}

/// What signals ask for; set on the signal thread, read by the packet path.
struct Requests {
  std::atomic<int> stops{0};
  std::atomic<Ring*> ring{nullptr};

  void OnSignal(int signal, Logger& logger) {
    if (signal == SIGHUP) {
      logger.Warning("SIGHUP is reserved for a reload and changes nothing; restart to reload");
      return;
    }
    stops.fetch_add(1);
    if (Ring* awake = ring.load()) awake->Wake();
  }
};

/// Turns the shard until a stop was asked for and the drain is done. Returns the exit status.
int Run(Shard& shard, Clock& clock, const Requests& requests, Logger& logger) {
  std::uint64_t watchdog_us = 0;
  const bool watched = ::sd_watchdog_enabled(0, &watchdog_us) > 0;
  std::int64_t watchdog_at_ns = 0;
  std::int64_t drain_until_ns = 0;
  bool announced = false;
  while (true) {
    shard.Turn();
    const std::int64_t now_ns = clock.Read().monotonic_ns;
    if (!announced) {
      ::sd_notify(0, "READY=1");
      announced = true;
    }
    if (watched && now_ns >= watchdog_at_ns) {
      ::sd_notify(0, "WATCHDOG=1");
      watchdog_at_ns = now_ns + static_cast<std::int64_t>(watchdog_us) * 1000 / 3;
    }
    const int stops = requests.stops.load(std::memory_order_relaxed);
    if (stops > 0 && drain_until_ns == 0) {
      ::sd_notify(0, "STOPPING=1");
      logger.Info("stopping: finishing what is at hand");
      drain_until_ns = now_ns + kDrainMaxNs;
      shard.RequestDrain();
    }
    if (drain_until_ns != 0 && shard.drained()) {
      logger.Info("stopped");
      return 0;
    }
    if (drain_until_ns != 0 && (now_ns >= drain_until_ns || stops > 1)) {
      logger.Error("stopped before everything was finished; replies were lost, no lease was",
                   {{"cause", stops > 1 ? "second signal" : "5 s have passed"}});
      return 1;
    }
  }
}

int ServeConfig(const ServerConfig& config, bool skip_damaged_leases, SignalWatcher& signals,
                Logger& logger) {
  const auto fail = [&](const absl::Status& status) {
    logger.Error("can't start", {{"cause", std::string(status.message())}});
    return 1;
  };
  SystemClock clock;
  const std::int64_t start_wall_s = clock.Read().wall_s;
  logger.Info("ringdhcp starts", {{"version", kVersion},
                                  {"durability", DurabilityName(config.durability)},
                                  {"storage", StorageName(config.storage)}});
  Requests requests;
  signals.Start([&](int signal) { requests.OnSignal(signal, logger); });

  Health health;
  std::unique_ptr<HttpServer> http;
  if (!config.http_host.empty()) {
    auto started = HttpServer::Start(config.http_host, config.http_port,
                                     [&](const std::string& path) { return health.Answer(path); });
    if (!started.ok()) return fail(started.status());
    http = std::move(*started);
  }

  auto stores = OpenStores(config, logger, [&] { return requests.stops.load() > 0; });
  if (!stores.ok()) return fail(stores.status());
  Replicator* const replicator = stores->replicator.get();
  const std::unique_ptr<LeaseEngine> engine = MakeEngine(config);
  const absl::Status loaded =
      LoadLeases(*stores->store, skip_damaged_leases, *engine, clock, logger);
  if (!loaded.ok()) return fail(loaded);

  const Limits limits;
  UringLimits uring;
  uring.interfaces_max = limits.interfaces_max;
  uring.buffers_per_interface = limits.receive_buffers;
  uring.buffer_payload_max = limits.receive_payload_max;
  uring.send_slots = limits.send_slots();
  auto ring = MakeUringRing(uring);
  if (!ring.ok()) return fail(ring.status());
  requests.ring.store(ring->get());
  // From here on, whatever calls Wake ends before the ring does.
  int exit_status = 1;
  {
    auto links = MakeLinkMonitor([&] { (*ring)->Wake(); });
    if (!links.ok()) {
      requests.ring.store(nullptr);
      return fail(links.status());
    }
    StoreThread store_thread(std::move(stores->store), [&] { (*ring)->Wake(); });
    PortOwnerWatch port_owner(logger);
    const auto open = [&](const std::string& name, int ifindex) {
      auto sockets = OpenInterfaceSockets(name, ifindex);
      if (absl::IsAlreadyExists(sockets.status())) port_owner.Report(name);
      return sockets;
    };
    const ShardSeams seams{**ring,  clock,  *engine, store_thread,
                           **links, logger, open,    ReceiveDrops};
    Shard shard(limits, config, seams);
    const ShardCollectable collectable(shard, config, start_wall_s, replicator);
    health.Attach(&shard.metrics(), &collectable, replicator);
    exit_status = Run(shard, clock, requests, logger);
    health.Detach();
    // The store thread may wait for PostgreSQL, and ends only after its commit.
    if (replicator != nullptr) replicator->CancelWaits();
  }
  requests.ring.store(nullptr);
  if (replicator != nullptr && requests.stops.load() < 2) replicator->Drain(kReplicationDrainMax);
  return exit_status;
}

}  // namespace

int Serve(const std::string& config_path, bool skip_damaged_leases) {
  const LoadResult result = LoadConfigFile(config_path);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    std::cerr << diagnostic.ToString() << "\n";
  }
  if (!result.ok()) return 1;
  SignalWatcher signals;  // before the log's thread: it inherits the blocked signals
  const std::unique_ptr<Logger> logger =
      MakeLogger(result.config.log_level, result.config.log_format);
  const int exit_status = ServeConfig(result.config, skip_damaged_leases, signals, *logger);
  // Everything is stored and closed. Only the log may still wait, for a reader that does not read.
  std::thread([exit_status] {
    std::this_thread::sleep_for(kLogFlushMax);
    ::_exit(exit_status);
  }).detach();
  return exit_status;
}

}  // namespace ringdhcp
