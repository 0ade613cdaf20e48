#include "test/sim/fairness_audit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_format.h"
#include "server/base/clock.h"

namespace ringdhcp::sim {
namespace {

// Much more than packets may wait before they are dropped as stale, at any speed that is simulated.
constexpr std::int64_t kPassedOverMaxNs = 15 * kNanosecondsPerSecond;

}  // namespace

FairnessAudit::FairnessAudit(std::size_t interfaces, std::uint32_t quantum, Verdict& verdict)
    : count_(interfaces), quantum_(quantum), verdict_(verdict) {
  Restart();
}

void FairnessAudit::Restart() {
  outstanding_.assign(count_, 0);
  moved_ns_.assign(count_, 0);
  pairs_.assign(count_ * count_, Pair{});
  suspicion_.clear();
  serving_ = false;
  serving_count_ = 0;
}

void FairnessAudit::OnHandedOut(InterfaceSlot interface, std::int64_t now_ns) {
  serving_ = false;
  if (outstanding_[interface.value]++ == 0) moved_ns_[interface.value] = now_ns;
}

// What a link that goes gives back comes before the call of Detach: judged at the turn's end.
void FairnessAudit::OnReturned(InterfaceSlot interface, std::int64_t now_ns) {
  std::size_t& count = outstanding_[interface.value];
  if (count == 0) {
    verdict_.Fail("conservation-buffers", "a buffer came back that was not lent");
    return;
  }
  --count;
  moved_ns_[interface.value] = now_ns;
  if (serving_) {
    ++serving_count_;
    Served(interface.value);
  }
  if (count == 0) Forget(interface.value);
}

void FairnessAudit::OnDetach(InterfaceSlot interface) {
  Forget(interface.value);
  suspicion_.clear();
}

void FairnessAudit::Forget(std::size_t interface) {
  for (std::size_t other = 0; other < count_; ++other) {
    PairOf(std::min(interface, other), std::max(interface, other)) = Pair{};
  }
}

void FairnessAudit::Served(std::size_t interface) {
  for (std::size_t other = 0; other < count_; ++other) {
    if (other == interface || outstanding_[other] == 0) continue;
    Pair& pair = PairOf(std::min(interface, other), std::max(interface, other));
    pair.ahead += interface < other ? 1 : -1;
    pair.lowest = std::min(pair.lowest, pair.ahead);
    pair.highest = std::max(pair.highest, pair.ahead);
    if (pair.highest - pair.lowest <= quantum_ || !suspicion_.empty()) continue;
    suspicion_ = absl::StrFormat(
        "of if%d and if%d, which both had packets, one was served %d packets more than the other; "
        "the quantum is %d",
        interface, other, pair.highest - pair.lowest, quantum_);
  }
}

void FairnessAudit::OnTurnEnd(std::int64_t now_ns) {
  serving_ = false;
  served_last_turn_ = std::exchange(serving_count_, 0);
  if (!suspicion_.empty()) verdict_.Fail("fairness", suspicion_);
  for (std::size_t a = 0; a < count_; ++a) {
    if (outstanding_[a] > 0 && now_ns - moved_ns_[a] > kPassedOverMaxNs) {
      verdict_.Fail("fairness",
                    absl::StrFormat("if%d has %d packets and was not served for %d ms", a,
                                    outstanding_[a], (now_ns - moved_ns_[a]) / 1'000'000));
    }
  }
}

std::size_t FairnessAudit::outstanding() const {
  return std::accumulate(outstanding_.begin(), outstanding_.end(), std::size_t{0});
}

}  // namespace ringdhcp::sim
