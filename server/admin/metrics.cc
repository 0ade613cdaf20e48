#include "server/admin/metrics.h"

#include <array>
#include <limits>

#include "absl/strings/str_cat.h"
#include "prometheus/client_metric.h"
#include "prometheus/metric_family.h"
#include "prometheus/metric_type.h"
#include "server/admin/metric_names.h"
#include "server/admin/version.h"

namespace ringdhcp {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr std::array<const char*, kMessageTypeSlots> kTypeNames = {
    "other", "discover", "offer", "request", "decline", "ack", "nak", "release", "inform"};

/// All families in the order of the table, filled by name.
class FamilySet {
 public:
  FamilySet() {
#define RINGDHCP_X(id, name, type, labels, meaning) \
  families_.push_back({name, meaning, MetricType::type, {}});
    RINGDHCP_METRICS(RINGDHCP_X)
#undef RINGDHCP_X
  }

  void Value(MetricId id, Labels labels, double value) {
    MetricFamily& family = families_[static_cast<std::size_t>(id)];
    ClientMetric metric;
    metric.label = std::move(labels);
    if (family.type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    family.metric.push_back(std::move(metric));
  }
  void Value(MetricId id, Labels labels, const Counter& counter) {
    Value(id, std::move(labels), static_cast<double>(counter.Get()));
  }

  void Histogram(MetricId id, Labels labels, const DurationHistogram& histogram) {
    ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < DurationHistogram::kBuckets; ++i) {
      count += histogram.Count(i);
      metric.histogram.bucket.push_back({count, DurationHistogram::UpperBoundSeconds(i)});
    }
    count += histogram.Count(DurationHistogram::kBuckets);
    metric.histogram.bucket.push_back({count, std::numeric_limits<double>::infinity()});
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = histogram.SumSeconds();
    families_[static_cast<std::size_t>(id)].metric.push_back(std::move(metric));
  }

  std::vector<MetricFamily> Take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

void AddInterface(FamilySet& families, const InterfaceStatus& status) {
  const InterfaceMetrics& metrics = *status.metrics;
  const ClientMetric::Label interface { "interface", status.name };
  const auto with = [&](const char* name, std::string_view value) {
    return Labels{interface, {name, std::string(value)}};
  };
  for (std::size_t type = 0; type < kMessageTypeSlots; ++type) {
    families.Value(MetricId::kPacketsReceived, with("type", kTypeNames[type]),
                   metrics.received[type]);
  }
  for (const MessageType type : {MessageType::kOffer, MessageType::kAck, MessageType::kNak}) {
    const auto slot = static_cast<std::size_t>(type);
    families.Value(MetricId::kRepliesSent, with("type", kTypeNames[slot]), metrics.replies[slot]);
  }
  for (std::size_t i = 0; i < kDropReasonCount; ++i) {
    families.Value(MetricId::kPacketsDropped,
                   with("reason", DropReasonLabel(static_cast<DropReason>(i))), metrics.drops[i]);
  }
  families.Value(MetricId::kKernelReceiveDrops, {interface}, metrics.kernel_receive_drops);
  families.Value(MetricId::kReceiveRearms, {interface}, metrics.receive_rearms);
  families.Value(MetricId::kReceiveBuffersEmpty, {interface}, metrics.receive_buffers_empty);
  families.Value(MetricId::kSendsDeferred, {interface}, metrics.sends_deferred);
  families.Value(MetricId::kOptionsDropped, {interface}, metrics.options_dropped);
  families.Value(MetricId::kInterfaceServing, {interface}, status.serving ? 1 : 0);
  families.Histogram(MetricId::kQueueDelay, {interface}, metrics.queue_delay);
  families.Histogram(MetricId::kReplyDelay, {interface}, metrics.reply_delay);
}

void AddSubnet(FamilySet& families, const SubnetCounts& counts) {
  const auto add = [&](const char* state, std::uint64_t value) {
    families.Value(MetricId::kSubnetAddresses,
                   {{"subnet", absl::StrCat(counts.id.value)}, {"state", state}},
                   static_cast<double>(value));
  };
  add("bound", counts.bound);
  add("offered", counts.offered);
  add("declined", counts.declined);
  add("free", counts.free);
}

void AddReplication(FamilySet& families, const Replicator& replicator,
                    const PostgresqlConfig& config) {
  const ReplicationStatus status = replicator.Status();
  for (std::size_t i = 0; i < kReplicationStates; ++i) {
    const auto state = static_cast<ReplicationState>(i);
    families.Value(MetricId::kReplicationState,
                   {{"state", std::string(ReplicationStateName(state))}},
                   state == status.state ? 1 : 0);
  }
  families.Value(MetricId::kReplicationLagRows, {}, static_cast<double>(status.lag_rows));
  families.Value(MetricId::kReplicationLagSeconds, {}, status.lag_seconds);
  families.Value(MetricId::kReplicationOutboxRowsMax, {}, config.outbox_rows_max);
  const ReplicationMetrics& metrics = replicator.metrics();
  families.Value(MetricId::kReplicationBatchRows, {}, metrics.batch_rows);
  families.Value(MetricId::kReplicationBatchLimit, {}, metrics.batch_limit);
  families.Histogram(MetricId::kReplicationCommitSeconds, {}, metrics.commit);
  families.Value(MetricId::kReplicationRows, {}, metrics.rows);
  families.Value(MetricId::kReplicationBatches, {}, metrics.batches);
  families.Value(MetricId::kReplicationFailures, {}, metrics.failures);
  families.Value(MetricId::kReplicationReconnects, {}, metrics.reconnects);
}

}  // namespace

std::string DurabilityName(Durability durability) {
  switch (durability) {
    case Durability::kLocal:
      return "local";
    case Durability::kRelaxed:
      return "relaxed";
    case Durability::kPostgresql:
      return "postgresql";
  }
  return "unknown";
}

std::string StorageName(StorageType storage) {
  return storage == StorageType::kLocal ? "local" : "memory";
}

ShardCollectable::ShardCollectable(const Shard& shard, const ServerConfig& config,
                                   std::int64_t start_wall_s, const Replicator* replicator)
    : shard_(shard), config_(config), start_wall_s_(start_wall_s), replicator_(replicator) {}

std::vector<MetricFamily> ShardCollectable::Collect() const {
  FamilySet families;
  for (const InterfaceStatus& status : shard_.Interfaces()) AddInterface(families, status);
  for (const SubnetCounts& counts : shard_.Subnets()) AddSubnet(families, counts);
  const ShardMetrics& metrics = shard_.metrics();
  families.Histogram(MetricId::kCommitSeconds, {}, metrics.commit_duration);
  families.Value(MetricId::kCommits, {}, metrics.commits);
  families.Value(MetricId::kCommitRows, {}, metrics.commit_rows);
  families.Value(MetricId::kCommitFailures, {}, metrics.commit_failures);
  families.Value(MetricId::kHeldReplies, {}, metrics.held_replies);
  families.Value(MetricId::kPendingRows, {}, metrics.pending_rows);
  families.Value(MetricId::kStoreWorking, {}, metrics.store_ok.load() ? 1 : 0);
  families.Value(MetricId::kReady, {}, metrics.ready.load() ? 1 : 0);
  if (replicator_ != nullptr) AddReplication(families, *replicator_, *config_.postgresql);
  families.Value(MetricId::kTurns, {}, metrics.turns);
  families.Value(MetricId::kBuildInfo,
                 {{"version", kVersion},
                  {"durability", DurabilityName(config_.durability)},
                  {"storage", StorageName(config_.storage)}},
                 1);
  families.Value(MetricId::kStartTime, {}, static_cast<double>(start_wall_s_));
  return families.Take();
}

}  // namespace ringdhcp
