#ifndef RINGDHCP_SERVER_SCHED_EGRESS_QUEUE_H_
#define RINGDHCP_SERVER_SCHED_EGRESS_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/base/ids.h"
#include "server/base/ring_buffer.h"

namespace ringdhcp {

/// The replies of one interface on their way out: a bounded queue and a bounded number with the
/// kernel, so that an interface that does not drain can hold only its own share of the send slots
/// and never delays another one. After a refusal for lack of room (EAGAIN, ENOBUFS) it pauses. One
/// thread.
class EgressQueue {
 public:
  struct Entry {
    SendSlotId slot;
    std::int64_t deadline_ns = 0;  // after this the client has retransmitted: drop
  };
  EgressQueue(std::size_t queue_max, std::size_t in_flight_max);

  bool full() const { return waiting_.full(); }
  bool empty() const { return waiting_.empty(); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t in_flight() const { return in_flight_; }
  /// Checked: not full.
  void Push(const Entry& entry) { waiting_.Push(entry); }
  /// The next reply that waited past its deadline, taken out.
  std::optional<Entry> TakeExpired(std::int64_t now_ns);
  /// The next reply to hand to the kernel now; nullopt: none, too many under way, or pausing. It
  /// counts as under way until OnSent.
  std::optional<Entry> TakeReady(std::int64_t now_ns);
  /// Anything at all, for an interface that is gone.
  std::optional<Entry> TakeAny();
  /// The kernel is done with one reply.
  void OnSent();
  /// The kernel had no room: nothing more is handed to it before now + pause.
  void Pause(std::int64_t until_ns) { paused_until_ns_ = until_ns; }
  /// The kernel takes nothing just now: more than a moment may pass before there is room.
  bool Clogged(std::int64_t now_ns) const {
    return now_ns < paused_until_ns_ || in_flight_ >= in_flight_max_;
  }

 private:
  RingBuffer<Entry> waiting_;
  std::size_t in_flight_max_;
  std::size_t in_flight_ = 0;
  std::int64_t paused_until_ns_ = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SCHED_EGRESS_QUEUE_H_
