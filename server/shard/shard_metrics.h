#ifndef RINGDHCP_SERVER_SHARD_SHARD_METRICS_H_
#define RINGDHCP_SERVER_SHARD_SHARD_METRICS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <string>

#include "server/base/counter.h"
#include "server/dhcp4/drop_reason.h"

namespace ringdhcp {

/// Message types 1-8 by their number (RFC 2132 section 9.6); 0: undecodable.
inline constexpr std::size_t kMessageTypeSlots = 9;

/// What happened on one interface since start. Written by the shard, read by any thread.
struct InterfaceMetrics {
  std::array<Counter, kMessageTypeSlots> received;
  std::array<Counter, kMessageTypeSlots> replies;  // accepted by the kernel
  std::array<Counter, kDropReasonCount> drops;
  Counter kernel_receive_drops;  // SO_MEMINFO
  Counter receive_rearms;
  Counter receive_buffers_empty;  // receives that ended with ENOBUFS
  Counter options_dropped;        // of replies that left without them for lack of room
  Counter sends_deferred;         // EAGAIN or ENOBUFS; sent later or counted in drops
  DurationHistogram queue_delay;  // from reaping a packet to serving it
  DurationHistogram reply_delay;  // from reaping a packet to the kernel's taking the reply
};

struct ShardMetrics {
  DurationHistogram commit_duration;
  Counter commits;
  Counter commit_rows;
  Counter commit_failures;
  Counter held_replies;  // gauge
  Counter pending_rows;  // gauge
  Counter turns;
  Counter last_turn_ns;       // monotonic time of the last turn: the pulse of the packet path
  Counter served_interfaces;  // gauge
  std::atomic<bool> store_ok{true};
  /// At least one interface is served, the store works and the server is not stopping.
  std::atomic<bool> ready{false};
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_SHARD_METRICS_H_
