#ifndef RINGDHCP_TEST_SIM_FAULT_STORE_H_
#define RINGDHCP_TEST_SIM_FAULT_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "server/lease/lease.h"
#include "storage/commit_port.h"
#include "test/sim/event_queue.h"
#include "test/sim/options.h"
#include "test/sim/random.h"
#include "test/sim/trace.h"

namespace ringdhcp::sim {

/// The lease store and its thread: takes time, refuses, fails before or after storing, hangs. What
/// it stored survives every crash; what was under way may or may not.
class FaultStore final : public CommitPort {
 public:
  struct Hooks {
    std::function<void(const LeaseRecord&)> stored;
    std::function<void()> wake;  // a result is there
  };
  FaultStore(const Options& options, EventQueue& events, Trace& trace, Hooks hooks);

  void Submit(const LeaseBatch* batch) override;
  std::optional<Result> TakeResult() override;

  /// The server is gone: its batch is stored as a whole or not at all.
  void Crash();
  void Heal() { healed_ = true; }
  const std::map<std::uint32_t, LeaseRecord>& rows() const { return rows_; }

 private:
  void StoreRows();

  const Options& options_;
  EventQueue& events_;
  Trace& trace_;
  Hooks hooks_;
  Random random_;
  std::map<std::uint32_t, LeaseRecord> rows_;
  const LeaseBatch* batch_ = nullptr;
  bool unstored_ = false;  // the batch has not been stored yet and may still be
  std::optional<BatchOutcome> outcome_;
  std::int64_t submitted_ns_ = 0;
  std::uint64_t life_ = 0;  // events of earlier batches mean nothing
  bool healed_ = false;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_FAULT_STORE_H_
