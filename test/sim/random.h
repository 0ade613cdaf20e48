#ifndef RINGDHCP_TEST_SIM_RANDOM_H_
#define RINGDHCP_TEST_SIM_RANDOM_H_

#include <cstdint>

#include "server/base/prng.h"

namespace ringdhcp::sim {

/// Drawing from a seed. Each part of the simulation has one of its own, so that a change in one
/// does not shift what the others draw. Never two draws in one expression: their order is
/// unspecified.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : prng_(Prng(seed ^ stream << 40).Next()) {}
  std::uint64_t Next() { return prng_.Next(); }
  /// low to high, both included.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(prng_.Below(static_cast<std::uint64_t>(high - low) + 1));
  }
  std::uint32_t Number(std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(Between(low, high));
  }
  bool PerMillion(std::uint32_t chance) { return prng_.Below(1'000'000) < chance; }
  bool OneIn(std::uint32_t n) { return prng_.Below(n) == 0; }

 private:
  Prng prng_;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_RANDOM_H_
