#ifndef RINGDHCP_TEST_SIM_SIM_CLOCK_H_
#define RINGDHCP_TEST_SIM_SIM_CLOCK_H_

#include <algorithm>

#include "server/base/clock.h"
#include "test/sim/event_queue.h"

namespace ringdhcp::sim {

/// The clocks of the server's host: the monotonic one is simulated time, the wall clock steps and
/// drifts. As the server's clock does, it never lets the wall run backwards within one life of the
/// server.
class SimClock final : public Clock {
 public:
  SimClock(const EventQueue& events, std::int32_t drift_ppm)
      : events_(events), drift_ppm_(drift_ppm) {}
  Now Read() override {
    wall_s_ = std::max(wall_s_, TrueWall());
    return {events_.now_ns(), wall_s_};
  }
  void Step(std::int64_t seconds) { offset_s_ += seconds; }
  /// The server starts: its wall clock is what the host says.
  void Restart() { wall_s_ = 0; }
  /// Monotonic nanoseconds of a wall time, by a clock that never stepped or drifted.
  std::int64_t MonotonicOf(std::int64_t wall_s) const {
    return (wall_s - offset_s_) * kNanosecondsPerSecond;
  }

 private:
  std::int64_t TrueWall() const {
    const std::int64_t now = events_.now_ns();
    return offset_s_ + (now + now / 1'000'000 * drift_ppm_) / kNanosecondsPerSecond;
  }

  const EventQueue& events_;
  std::int32_t drift_ppm_;
  std::int64_t offset_s_ = 1'700'000'000;
  std::int64_t wall_s_ = 0;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_SIM_CLOCK_H_
