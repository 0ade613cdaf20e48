#include "server/sched/ingress_queue.h"

namespace ringdhcp {

IngressQueue::IngressQueue(std::size_t buffers) : discovers_(buffers), others_(buffers) {}

std::optional<IngressPacket> IngressQueue::Push(const IngressPacket& packet) {
  if (!packet.is_discover) {
    others_.Push(packet);
    return std::nullopt;
  }
  std::optional<IngressPacket> evicted;
  // The oldest goes: its client is the nearest to its retransmission.
  if (discovers_.size() * 2 >= discovers_.capacity()) evicted = discovers_.Pop();
  discovers_.Push(packet);
  return evicted;
}

IngressPacket IngressQueue::Pop() {
  if (others_.empty()) return discovers_.Pop();
  if (discovers_.empty() || overloaded()) return others_.Pop();
  return others_.Front().arrival_ns <= discovers_.Front().arrival_ns ? others_.Pop()
                                                                     : discovers_.Pop();
}

}  // namespace ringdhcp
