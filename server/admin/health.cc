#include "server/admin/health.h"

#include "absl/strings/str_cat.h"
#include "prometheus/collectable.h"
#include "prometheus/text_serializer.h"
#include "server/admin/system_clock.h"
#include "storage/postgres/replicator.h"

namespace ringdhcp {
namespace {

constexpr std::int64_t kPulseMaxNs = 5 * kNanosecondsPerSecond;

}  // namespace

void Health::Attach(const ShardMetrics* metrics, const prometheus::Collectable* collectable,
                    const Replicator* replicator) {
  const std::lock_guard lock(mutex_);
  metrics_ = metrics;
  collectable_ = collectable;
  replicator_ = replicator;
}

void Health::Detach() {
  const std::lock_guard lock(mutex_);
  metrics_ = nullptr;
  collectable_ = nullptr;
  replicator_ = nullptr;
  stopped_ = true;
}

HttpAnswer Health::Answer(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  if (path == "/healthz") return Healthz();
  if (path == "/readyz") return Readyz();
  if (path == "/metrics") {
    if (collectable_ == nullptr) return {503, "no metrics yet: leases are loading\n"};
    return {200, prometheus::TextSerializer().Serialize(collectable_->Collect()),
            "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (path == "/") return {200, "ringdhcp: /healthz /readyz /metrics\n"};
  return {404, "not found; there are /healthz, /readyz and /metrics\n"};
}

HttpAnswer Health::Healthz() const {
  if (metrics_ == nullptr) return {200, stopped_ ? "stopping\n" : "loading leases\n"};
  const auto last_turn_ns = static_cast<std::int64_t>(metrics_->last_turn_ns.Get());
  if (last_turn_ns != 0 && SystemClock().Read().monotonic_ns - last_turn_ns > kPulseMaxNs) {
    return {503, "the packet path stands still\n"};
  }
  return {200, "ok\n"};
}

std::string Health::PostgresLine() const {
  if (replicator_ == nullptr) return "";
  const ReplicationStatus status = replicator_->Status();
  return absl::StrCat("postgresql: ", std::string(ReplicationStateName(status.state)), ", ",
                      status.lag_rows, " rows behind\n");
}

HttpAnswer Health::Readyz() const {
  if (metrics_ == nullptr) return {503, stopped_ ? "stopping\n" : "loading leases\n"};
  if (metrics_->ready.load(std::memory_order_relaxed)) {
    return {200, "ready\n" + PostgresLine()};
  }
  if (!metrics_->store_ok.load(std::memory_order_relaxed)) {
    return {503, "the lease store is failing; see the log\n" + PostgresLine()};
  }
  if (metrics_->served_interfaces.Get() == 0) return {503, "no interface is served; see the log\n"};
  return {503, "stopping\n"};
}

}  // namespace ringdhcp
