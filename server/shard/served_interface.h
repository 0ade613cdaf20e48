#ifndef RINGDHCP_SERVER_SHARD_SERVED_INTERFACE_H_
#define RINGDHCP_SERVER_SHARD_SERVED_INTERFACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "server/io/ring.h"
#include "server/lease/lease_engine.h"
#include "server/sched/egress_queue.h"
#include "server/sched/ingress_queue.h"
#include "server/shard/limits.h"
#include "server/shard/shard_metrics.h"

namespace ringdhcp {

/// Everything a shard keeps for one interface. Belongs to the shard's thread; only `metrics` is
/// read by others.
struct ServedInterface {
  enum class State : std::uint8_t {
    kIdle,  // no sockets: absent, down, or not to be opened just now
    kServing,
    kDetaching,  // the ring still owes completions; the sockets close at the last one
  };

  ServedInterface(InterfaceSlot slot_number, std::uint64_t life_number, std::size_t buffers,
                  const Limits& limits)
      : slot(slot_number),
        life(life_number),
        ingress(buffers, limits.overload_after_ns),
        egress(limits.egress_queue_max, limits.egress_in_flight_max) {}

  const InterfaceSlot slot;
  const std::uint64_t life;
  State state = State::kIdle;
  InterfaceSockets sockets;  // valid while serving
  std::uint32_t mtu = 1500;
  LinkView view;
  IngressQueue ingress;
  EgressQueue egress;
  std::shared_ptr<InterfaceMetrics> metrics = std::make_shared<InterfaceMetrics>();

  bool receive_stopped = false;
  std::int64_t rearm_at_ns = 0;
  /// Receive drops of the sockets this interface had before the present ones.
  std::uint64_t earlier_receive_drops = 0;
  std::string last_open_error;
  std::int64_t open_retry_at_ns = 0;
  std::int64_t open_retry_delay_ns = 0;

  bool serving() const { return state == State::kServing; }
  void CountDrop(DropReason reason) { metrics->drops[static_cast<std::size_t>(reason)].Add(); }
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_SERVED_INTERFACE_H_
