#include "server/sched/fair_scheduler.h"

#include "server/base/canary.h"
#include "server/base/probe.h"

namespace ringdhcp {

FairScheduler::FairScheduler(std::size_t interfaces_max, std::uint32_t quantum)
    : quantum_(quantum), states_(interfaces_max), round_(interfaces_max) {
  RINGDHCP_CHECK(quantum >= 1 && quantum <= 64);
}

void FairScheduler::Activate(InterfaceSlot interface) {
  State& state = states_[interface.value];
  if (state.active) return;
  state.active = true;
  ++active_count_;
  // One that left and came back within a round waits where it stood: it can't jump the queue.
  if (state.queued) {
    RINGDHCP_PROBE(interface_back_within_a_round);
    return;
  }
  state.queued = true;
  state.deficit = quantum_;
  round_.Push(interface);
}

void FairScheduler::Deactivate(InterfaceSlot interface) {
  State& state = states_[interface.value];
  if (!state.active) return;
  state.active = false;
  state.deficit = 0;
  --active_count_;
}

std::optional<InterfaceSlot> FairScheduler::Next() {
  while (!round_.empty()) {
    const InterfaceSlot interface = round_.Front();
    State& state = states_[interface.value];
    if (!state.active) {
      round_.Pop();
      state.queued = false;
      state.deficit = 0;
      continue;
    }
    if (state.deficit == 0) {  // its share of this round is used up
      state.deficit = quantum_ + (RINGDHCP_CANARY(scheduler_off_by_one) ? 1 : 0);
      if (RINGDHCP_CANARY(scheduler_starves)) continue;
      round_.Push(round_.Pop());
      if (round_.size() > 1) continue;
    }
    --state.deficit;
    return interface;
  }
  return std::nullopt;
}

}  // namespace ringdhcp
