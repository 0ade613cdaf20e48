#include "server/sched/egress_queue.h"

namespace ringdhcp {

EgressQueue::EgressQueue(std::size_t queue_max, std::size_t in_flight_max)
    : waiting_(queue_max), in_flight_max_(in_flight_max) {}

std::optional<EgressQueue::Entry> EgressQueue::TakeExpired(std::int64_t now_ns) {
  if (waiting_.empty() || waiting_.Front().deadline_ns > now_ns) return std::nullopt;
  return waiting_.Pop();
}

std::optional<EgressQueue::Entry> EgressQueue::TakeReady(std::int64_t now_ns) {
  if (waiting_.empty() || Clogged(now_ns)) return std::nullopt;
  ++in_flight_;
  return waiting_.Pop();
}

std::optional<EgressQueue::Entry> EgressQueue::TakeAny() {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.Pop();
}

void EgressQueue::OnSent() {
  RINGDHCP_CHECK(in_flight_ > 0);
  --in_flight_;
}

}  // namespace ringdhcp
