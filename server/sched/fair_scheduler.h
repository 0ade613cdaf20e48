#ifndef RINGDHCP_SERVER_SCHED_FAIR_SCHEDULER_H_
#define RINGDHCP_SERVER_SCHED_FAIR_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/base/ids.h"
#include "server/base/ring_buffer.h"

namespace ringdhcp {

/// Deficit round robin over interfaces (Shreedhar and Varghese, 1995), counted in packets: every
/// backlogged interface gets `quantum` packets a round, so over any span two interfaces that were
/// backlogged throughout differ by at most one quantum. O(1) a packet. One thread.
class FairScheduler {
 public:
  /// quantum: packets a round, 1-64.
  FairScheduler(std::size_t interfaces_max, std::uint32_t quantum);

  /// The interface has something to serve. Calling it again changes nothing.
  void Activate(InterfaceSlot interface);
  /// The interface has nothing more (or is gone): it leaves the round and keeps no deficit.
  void Deactivate(InterfaceSlot interface);
  /// Whose packet is served next; nullopt when no interface is active. Takes one packet off its
  /// share.
  std::optional<InterfaceSlot> Next();
  bool idle() const { return active_count_ == 0; }

 private:
  struct State {
    bool active = false;
    bool queued = false;  // has an entry in round_
    std::uint32_t deficit = 0;
  };
  std::uint32_t quantum_;
  std::size_t active_count_ = 0;
  std::vector<State> states_;
  RingBuffer<InterfaceSlot> round_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SCHED_FAIR_SCHEDULER_H_
