#ifndef RINGDHCP_SERVER_ADMIN_SYSTEM_CLOCK_H_
#define RINGDHCP_SERVER_ADMIN_SYSTEM_CLOCK_H_

#include "server/base/clock.h"

namespace ringdhcp {

/// CLOCK_BOOTTIME, which counts the time a host sleeps too, and CLOCK_REALTIME. The wall time given
/// never runs backwards: after a step back it stands still until the clock has caught up.
class SystemClock final : public Clock {
 public:
  Now Read() override;

 private:
  std::int64_t wall_s_ = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_SYSTEM_CLOCK_H_
