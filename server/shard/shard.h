#ifndef RINGDHCP_SERVER_SHARD_SHARD_H_
#define RINGDHCP_SERVER_SHARD_SHARD_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/base/slot_pool.h"
#include "server/config/server_config.h"
#include "server/io/link_monitor.h"
#include "server/io/ring.h"
#include "server/lease/lease_engine.h"
#include "server/lease/reply_builder.h"
#include "server/sched/fair_scheduler.h"
#include "server/shard/ack_gate.h"
#include "server/shard/limits.h"
#include "server/shard/send_slot.h"
#include "server/shard/served_interface.h"
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

enum class StoreState : std::uint8_t {
  kWorking,
  kStalled,  // a commit takes longer than Limits::store_stall_ns
  kFailed,   // the last commit failed
};

/// One interface as other threads see it.
struct InterfaceStatus {
  std::string name;
  bool serving = false;
  std::shared_ptr<const InterfaceMetrics> metrics;
};

/// What a shard has of the things it was lent, for an audit of the books.
struct ShardHoldings {
  std::size_t packets = 0;  // each with a receive buffer
  std::size_t slots_taken = 0;
  std::size_t held_replies = 0;
  std::size_t egress_waiting = 0;
  std::size_t egress_in_flight = 0;
  std::size_t pending_rows = 0;
};

/// The packet path: one thread that turns the ring, serves packets in fair batches, and holds each
/// ACK until its lease is durable. Every step of a turn is bounded (limits.h). Turn and
/// RequestDrain belong to one thread; the const observers to any.
class Shard {
 public:
  /// `config` outlives the shard. Limits::Check must hold (checked).
  Shard(const Limits& limits, const ServerConfig& config, const ShardSeams& seams);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// One turn: reap, classify, release what is durable, serve a batch, seal, send, re-arm, expire.
  void Turn();
  /// Takes no new packets, finishes those at hand, commits, sends, closes. Then drained() is true.
  void RequestDrain();
  bool drained() const;

  /// Of the shard's thread, between turns.
  ShardHoldings Holdings() const;

  const ShardMetrics& metrics() const { return metrics_; }
  std::vector<InterfaceStatus> Interfaces() const;
  /// At most one second old.
  std::vector<SubnetCounts> Subnets() const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void Classify(const Completion& completion);
  void OnReceived(const Completion& completion);
  void OnStopped(const Completion& completion);
  void OnSent(const Completion& completion);

  // shard_links.cc: interfaces come and go.
  void FollowLinks();
  bool Eligible(const LinkState& link) const;
  bool HasSubnet(const LinkState& link) const;
  static bool HasAddress(const ServedInterface& interface, const LinkState& link);
  void ExpectConfiguredNames(const std::vector<LinkState>& links);
  void OpenLink(const LinkState& link, const std::vector<LinkState>& links);
  ServedInterface* SlotFor(const std::string& name, const std::vector<LinkState>& links);
  void Detach(ServedInterface& interface);
  void OnDetached(ServedInterface& interface);
  void UpdateView(ServedInterface& interface, const LinkState& link);
  void PublishStatus();

  void TakeStoreResult();
  void SetStoreState(StoreState state, const std::string& cause);
  bool store_ok() const { return store_state_ == StoreState::kWorking; }
  void ReleaseHeld();
  bool HasCredit() const;
  void ServeBatch();
  void Serve(ServedInterface& interface, const IngressPacket& packet);
  void MakeReply(ServedInterface& interface, const IngressPacket& packet);
  void Enqueue(SendSlotId id);
  void SealCommit();
  void PumpEgress(ServedInterface& interface);
  void Rearm(ServedInterface& interface);
  void DropSlot(SendSlotId id, DropReason reason);
  void Housekeeping();
  void AdvanceDrain();
  std::int64_t WaitTime() const;
  bool IsHostAddress(Ipv4Address address) const;
  std::span<std::uint8_t> PayloadOf(SendSlotId id);

  const Limits limits_;
  const ServerConfig& config_;
  ShardSeams seams_;
  ShardMetrics metrics_;
  Now now_;

  std::vector<std::unique_ptr<ServedInterface>> interfaces_;  // by slot; null: never used
  std::uint64_t lives_ = 0;
  std::vector<Ipv4Address> host_addresses_;  // ascending
  FairScheduler scheduler_;
  SlotPool<SendSlotId, SendSlot> slots_;
  /// kReplyPayloadMax octets for each slot; pages never used are never touched.
  std::unique_ptr<std::uint8_t[]> payloads_;
  AckGate gate_;
  CommitQueue commits_;
  std::vector<Completion> completions_;

  Message message_;
  Decision decision_;
  ReplyBuilder builder_;

  std::uint64_t links_generation_ = ~std::uint64_t{0};
  std::int64_t links_retry_at_ns_ = kNever;
  bool configured_names_known_ = false;
  std::set<std::string> without_slot_;  // names logged as not served for lack of a slot
  StoreState store_state_ = StoreState::kWorking;
  std::string store_cause_;
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
