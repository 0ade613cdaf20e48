#ifndef RINGDHCP_SERVER_SCHED_INGRESS_QUEUE_H_
#define RINGDHCP_SERVER_SCHED_INGRESS_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/base/ids.h"
#include "server/base/ipv4.h"
#include "server/base/ring_buffer.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// A received datagram that waits for its turn. `payload` lies in `buffer` of its interface.
struct IngressPacket {
  BufferId buffer;
  std::span<const std::uint8_t> payload;
  Ipv4Address source;
  Ipv4Address local;
  std::uint16_t source_port = 0;
  bool broadcast = false;  // sent to a broadcast address
  bool is_discover = false;
  std::int64_t arrival_ns = 0;  // monotonic
};

/// The packets of one interface that wait. DISCOVERs have a queue of their own. A queue that holds
/// at least half of the buffers for `overload_after_ns` on end is overloaded (a burst is not): all
/// else (REQUESTs, whose client already has an offer) is served first then, since finishing an
/// exchange is worth more than beginning one; and DISCOVERs may hold no more than half of the
/// buffers, or REQUESTs would find none. Below that, strictly by arrival. One thread.
class IngressQueue {
 public:
  /// `buffers`: of the interface, at least 2. Each packet holds one, so nothing overflows.
  IngressQueue(std::size_t buffers, std::int64_t overload_after_ns);

  /// Queues `packet`, whose arrival is now. If that takes the DISCOVERs of an overloaded queue over
  /// their half, the oldest one is given back for its buffer to be returned (count it as
  /// kOverloadDiscover).
  std::optional<IngressPacket> Push(const IngressPacket& packet);
  /// The packet to serve next; checked: not empty.
  IngressPacket Pop(std::int64_t now_ns);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return discovers_.size() + others_.size(); }
  bool Overloaded(std::int64_t now_ns) const {
    return HalfFull() && now_ns - half_full_since_ns_ >= overload_after_ns_;
  }

 private:
  bool HalfFull() const { return size() * 2 >= others_.capacity(); }

  std::int64_t overload_after_ns_;
  std::int64_t half_full_since_ns_ = 0;  // while HalfFull
  RingBuffer<IngressPacket> discovers_;
  RingBuffer<IngressPacket> others_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SCHED_INGRESS_QUEUE_H_
