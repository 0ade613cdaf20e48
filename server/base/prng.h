#ifndef RINGDHCP_SERVER_BASE_PRNG_H_
#define RINGDHCP_SERVER_BASE_PRNG_H_

#include <cstdint>

namespace ringdhcp {

/// A small deterministic generator (SplitMix64): the same seed gives the same sequence on every
/// machine. Not for secrets. One thread per object.
class Prng {
 public:
  explicit Prng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// A number in [0, bound); bound >= 1.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_PRNG_H_
