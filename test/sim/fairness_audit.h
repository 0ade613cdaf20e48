#ifndef RINGDHCP_TEST_SIM_FAIRNESS_AUDIT_H_
#define RINGDHCP_TEST_SIM_FAIRNESS_AUDIT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/base/ids.h"
#include "test/sim/verdict.h"

namespace ringdhcp::sim {

/// Judges the order in which packets are served by the buffers the shard holds. Invariant
/// "fairness": over any span in which two interfaces both have packets waiting throughout, what is
/// served of them differs by at most one quantum; and none with packets is passed over for long.
class FairnessAudit {
 public:
  FairnessAudit(std::size_t interfaces, std::uint32_t quantum, Verdict& verdict);
  void OnHandedOut(InterfaceSlot interface, std::int64_t now_ns);
  /// The turn has sorted its completions: buffers given back from now on were served.
  void OnServing() { serving_ = true; }
  void OnReturned(InterfaceSlot interface, std::int64_t now_ns);
  /// What an interface that goes had queued is not served.
  void OnDetach(InterfaceSlot interface);
  void OnTurnEnd(std::int64_t now_ns);
  void Restart();
  std::size_t outstanding() const;
  std::uint64_t served_last_turn() const { return served_last_turn_; }

 private:
  struct Pair {
    std::int64_t ahead = 0, lowest = 0, highest = 0;
  };
  Pair& PairOf(std::size_t a, std::size_t b) { return pairs_[a * count_ + b]; }
  void Forget(std::size_t interface);
  void Served(std::size_t interface);

  std::size_t count_;
  std::int64_t quantum_;
  Verdict& verdict_;
  std::vector<std::size_t> outstanding_;
  std::vector<std::int64_t> moved_ns_;  // last time one was served or none waited
  std::vector<Pair> pairs_;             // a < b: how far a is ahead of b
  std::string suspicion_;
  bool serving_ = false;
  std::uint64_t served_last_turn_ = 0;
  std::uint64_t serving_count_ = 0;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_FAIRNESS_AUDIT_H_
