#ifndef RINGDHCP_SERVER_SHARD_SHARD_H_
#define RINGDHCP_SERVER_SHARD_SHARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/base/slot_pool.h"
#include "server/config/server_config.h"
#include "server/dhcp4/encode.h"
#include "server/dhcp4/reply_route.h"
#include "server/io/link_monitor.h"
#include "server/io/ring.h"
#include "server/lease/lease_engine.h"
#include "server/lease/reply_builder.h"
#include "server/sched/egress_queue.h"
#include "server/sched/fair_scheduler.h"
#include "server/sched/ingress_queue.h"
#include "server/shard/ack_gate.h"
#include "server/shard/limits.h"
#include "server/shard/shard_metrics.h"
#include "storage/commit_port.h"
#include "storage/commit_queue.h"

namespace ringdhcp {

/// What a shard needs of the world, each a seam for tests. All outlive the shard.
struct ShardSeams {
  Ring& ring;
  Clock& clock;
  LeaseEngine& engine;
  CommitPort& store;
  const LinkMonitor& links;
  Logger& logger;
  std::function<absl::StatusOr<InterfaceSockets>(const std::string& name, int ifindex)> open;
  std::function<std::optional<std::uint64_t>(int udp_fd)> receive_drops;
};

/// One interface as other threads see it.
struct InterfaceStatus {
  std::string name;
  bool serving = false;
  const InterfaceMetrics* metrics = nullptr;  // lives as long as the shard
};

/// The packet path: one thread that turns the ring, serves packets in fair batches, and holds each
/// ACK until its lease is durable. Every step of a turn is bounded (limits.h). Turn and RequestDrain
/// belong to one thread; the const observers to any.
class Shard {
 public:
  Shard(const Limits& limits, const ServerConfig& config, const ShardSeams& seams);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// One turn: reap, classify, release what is durable, serve a batch, seal, send, re-arm, expire.
  void Turn();
  /// Takes no new packets, finishes those at hand, commits, sends, closes. Then drained() is true.
  void RequestDrain();
  bool drained() const;

  const ShardMetrics& metrics() const { return metrics_; }
  std::vector<InterfaceStatus> Interfaces() const;
  /// At most one second old.
  std::vector<SubnetCounts> Subnets() const;

 private:
  struct Interface;
  struct SendSlot;

  void Classify(const Completion& completion);
  void OnReceived(const Completion& completion);
  void OnSent(const Completion& completion);
  void OnDetached(Interface& interface);
  void FollowLinks();
  void OpenLink(const LinkState& link);
  void Detach(Interface& interface);
  void UpdateView(Interface& interface, const LinkState& link);
  void TakeStoreResult();
  void ReleaseHeld();
  bool HasCredit() const;
  void ServeBatch();
  void Serve(Interface& interface, const IngressPacket& packet);
  void MakeReply(Interface& interface, const IngressPacket& packet);
  void Enqueue(SendSlotId slot);
  void SealCommit();
  void PumpEgress(Interface& interface);
  void Rearm(Interface& interface);
  void Drop(Interface& interface, DropReason reason);
  void DropSlot(SendSlotId slot, DropReason reason);
  void Housekeeping();
  std::int64_t WaitTime() const;
  bool QuietForDrain() const;
  Interface& At(InterfaceSlot slot);

  const Limits limits_;
  const ServerConfig& config_;
  ShardSeams seams_;
  ShardMetrics metrics_;
  Now now_;

  std::vector<std::unique_ptr<Interface>> interfaces_;
  std::vector<Ipv4Address> host_addresses_;
  FairScheduler scheduler_;
  SlotPool<SendSlotId, SendSlot> slots_;
  AckGate gate_;
  CommitQueue commits_;
  std::vector<Completion> completions_;

  Message message_;
  Decision decision_;
  ReplyBuilder builder_;

  std::uint64_t links_generation_ = ~std::uint64_t{0};
  bool links_retry_ = false;
  std::int64_t links_retry_at_ns_ = 0;
  bool store_failed_ = false;
  std::int64_t submitted_at_ns_ = 0;
  std::int64_t store_retry_at_ns_ = 0;
  std::int64_t housekeeping_at_ns_ = 0;
  bool more_expiries_ = false;
  bool draining_ = false;

  mutable std::mutex status_mutex_;  // guards the two below
  std::vector<InterfaceStatus> status_;
  std::vector<SubnetCounts> subnet_counts_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_SHARD_H_
