#ifndef RINGDHCP_SERVER_BASE_CLOCK_H_
#define RINGDHCP_SERVER_BASE_CLOCK_H_

#include <cstdint>

namespace ringdhcp {

inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;

/// The time of one turn. Leases expire by `monotonic_ns`; `wall_s` only labels what people and the
/// store see, so a step of the wall clock never ends a lease.
struct Now {
  /// Nanoseconds of a clock that never runs backwards (CLOCK_BOOTTIME). Origin unspecified.
  std::int64_t monotonic_ns = 0;
  /// Seconds since 1970-01-01 UTC.
  std::int64_t wall_s = 0;
};

/// The seam to time. One thread per implementation object.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now Read() = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_CLOCK_H_
