#include "server/admin/system_clock.h"

#include <algorithm>
#include <ctime>

#include "server/base/check.h"

namespace ringdhcp {

Now SystemClock::Read() {
  timespec boot{};
  timespec wall{};
  RINGDHCP_CHECK(::clock_gettime(CLOCK_BOOTTIME, &boot) == 0);
  RINGDHCP_CHECK(::clock_gettime(CLOCK_REALTIME, &wall) == 0);
  wall_s_ = std::max<std::int64_t>(wall_s_, wall.tv_sec);
  return {boot.tv_sec * kNanosecondsPerSecond + boot.tv_nsec, wall_s_};
}

}  // namespace ringdhcp
