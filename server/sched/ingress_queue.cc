#include "server/sched/ingress_queue.h"

#include "server/base/probe.h"

namespace ringdhcp {

IngressQueue::IngressQueue(std::size_t buffers, std::int64_t overload_after_ns)
    : overload_after_ns_(overload_after_ns), discovers_(buffers), others_(buffers) {}

std::optional<IngressPacket> IngressQueue::Push(const IngressPacket& packet) {
  const bool was_half_full = HalfFull();
  std::optional<IngressPacket> evicted;
  if (!packet.is_discover) {
    others_.Push(packet);
  } else {
    // The oldest goes: its client is the nearest to its retransmission.
    if (Overloaded(packet.arrival_ns) && discovers_.size() * 2 >= discovers_.capacity()) {
      evicted = discovers_.Pop();
    }
    discovers_.Push(packet);
  }
  if (!was_half_full) half_full_since_ns_ = packet.arrival_ns;
  return evicted;
}

IngressPacket IngressQueue::Pop(std::int64_t now_ns) {
  if (others_.empty()) return discovers_.Pop();
  if (!discovers_.empty() && Overloaded(now_ns)) RINGDHCP_PROBE(request_before_discover);
  if (discovers_.empty() || Overloaded(now_ns)) return others_.Pop();
  return others_.Front().arrival_ns <= discovers_.Front().arrival_ns ? others_.Pop()
                                                                     : discovers_.Pop();
}

}  // namespace ringdhcp
