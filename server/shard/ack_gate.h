#ifndef RINGDHCP_SERVER_SHARD_ACK_GATE_H_
#define RINGDHCP_SERVER_SHARD_ACK_GATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/base/canary.h"
#include "server/base/ids.h"
#include "server/base/ring_buffer.h"

namespace ringdhcp {

/// Holds encoded replies until the commit that carries their lease is durable. First in, first out:
/// a reply may wait for one queued before it, never longer than that one's commit. One thread.
class AckGate {
 public:
  struct Held {
    SendSlotId slot;
    CommitSeq gate;
    std::int64_t deadline_ns = 0;
  };
  explicit AckGate(std::size_t held_max) : held_(held_max) {}

  bool full() const { return held_.full(); }
  std::size_t size() const { return held_.size(); }
  /// Checked: not full.
  void Hold(const Held& held) { held_.Push(held); }
  /// The next reply, if its gate is durable; nullptr otherwise. Valid until the next call.
  const Held* Released(CommitSeq durable) const {
    if (RINGDHCP_CANARY(gate_off_by_one)) ++durable.value;
    return held_.empty() || held_.Front().gate > durable ? nullptr : &held_.Front();
  }
  /// Takes the next reply out. Checked: not empty.
  Held Take() { return held_.Pop(); }
  /// The next reply that waited past its deadline, taken out: its client has retransmitted.
  std::optional<Held> TakeExpired(std::int64_t now_ns) {
    if (held_.empty() || held_.Front().deadline_ns > now_ns) return std::nullopt;
    return held_.Pop();
  }

 private:
  RingBuffer<Held> held_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_ACK_GATE_H_
