#ifndef RINGDHCP_SERVER_SHARD_LIMITS_H_
#define RINGDHCP_SERVER_SHARD_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "server/base/clock.h"

namespace ringdhcp {

/// Every bound of a shard. All memory follows from these at start; nothing grows after.
struct Limits {
  std::size_t interfaces_max = 64;
  /// Receive buffers of one interface, a power of two. Each is a packet that waits or is received.
  std::size_t receive_buffers = 256;
  std::size_t receive_payload_max = 2048;  // octets
  /// An interface whose packets hold half of its buffers for so long is overloaded.
  std::int64_t overload_after_ns = 20 * kNanosecondsPerMillisecond;
  /// Packets served in one turn, and packets of one interface in a round of the scheduler.
  std::size_t batch_packets_max = 64;
  std::uint32_t quantum_packets = 8;
  /// Completions handled in one turn.
  std::size_t completions_max = 1024;
  /// Replies that wait for one interface, and that are with the kernel. In each turn an interface
  /// that takes what it is given sends as many as may be with the kernel: twice a batch, so that
  /// held ACKs come out as fast as new OFFERs.
  std::size_t egress_queue_max = 256;
  std::size_t egress_in_flight_max = 128;
  /// Replies held for their commit.
  std::size_t held_replies_max = 4096;
  /// Rows gathering for the next commit; as many may be with the store.
  std::size_t commit_rows_max = 2048;
  /// Expiries handled in one turn.
  std::size_t expiries_max = 256;

  /// A reply leaves within this time after it was made, or not at all: clients retransmit after
  /// 4 s +- 1 s (RFC 2131 section 4.1).
  std::int64_t held_max_ns = 2500 * kNanosecondsPerMillisecond;
  std::int64_t egress_max_ns = 2000 * kNanosecondsPerMillisecond;
  /// Pause of an interface whose send buffer was full.
  std::int64_t egress_pause_ns = 2 * kNanosecondsPerMillisecond;
  /// A commit that takes longer counts as a failing store until it is done.
  std::int64_t store_stall_ns = 1000 * kNanosecondsPerMillisecond;
  std::int64_t store_retry_ns = 200 * kNanosecondsPerMillisecond;
  /// Between two tries to open an interface.
  std::int64_t interface_retry_ns = 250 * kNanosecondsPerMillisecond;
  /// Longest wait of an idle turn.
  std::int64_t idle_wait_ns = 50 * kNanosecondsPerMillisecond;

  /// The longest time from a decision until its reply is handed to the kernel: held, then waiting
  /// for its interface, each noticed up to a turn late.
  std::int64_t reply_delay_max_ns() const {
    return held_max_ns + egress_max_ns + 500 * kNanosecondsPerMillisecond;
  }
  /// One slot for every reply that can exist at once, by owner.
  std::size_t send_slots() const {
    return interfaces_max * egress_queue_max        // waiting in egress queues
           + interfaces_max * egress_in_flight_max  // with the kernel
           + held_replies_max                       // held by the ack gate
           + batch_packets_max;                     // being made in this turn
  }
  /// Completions that can be outstanding at once, by owner.
  std::size_t completions_outstanding_max() const {
    return interfaces_max * (receive_buffers + 1)  // one per buffer, one that ends the receive
           + send_slots()                          // one per send
           + interfaces_max * 2                    // cancel and its answer
           + 8;                                    // wake-ups
  }
  /// The first bound that contradicts another, or OK.
  absl::Status Check() const;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_LIMITS_H_
