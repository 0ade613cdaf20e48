#ifndef RINGDHCP_SERVER_BASE_COUNTER_H_
#define RINGDHCP_SERVER_BASE_COUNTER_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ringdhcp {

/// A number written by one thread and read by any: relaxed loads and stores, no locked instruction,
/// so counting costs the packet path what a plain integer would.
class Counter {
 public:
  void Add(std::uint64_t n = 1) { Set(Get() + n); }
  void Set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Durations in buckets by powers of two: bucket i counts values of at most 2^i microseconds, the
/// last everything longer. One writer, any reader.
class DurationHistogram {
 public:
  static constexpr std::size_t kBuckets = 26;  // 1 us to 33 s
  /// Negative durations count as zero.
  void Record(std::int64_t nanoseconds) {
    const std::uint64_t ns = nanoseconds > 0 ? static_cast<std::uint64_t>(nanoseconds) : 0;
    const std::uint64_t us = (ns + 999) / 1000;
    const std::size_t bucket = us <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(us - 1));
    counts_[bucket < kBuckets ? bucket : kBuckets].Add();
    sum_ns_.Add(ns);
  }
  /// Values in bucket i alone, not cumulated; i == kBuckets: the overflow bucket.
  std::uint64_t Count(std::size_t i) const { return counts_[i].Get(); }
  static constexpr double UpperBoundSeconds(std::size_t i) {
    return static_cast<double>(std::uint64_t{1} << i) * 1e-6;
  }
  double SumSeconds() const { return static_cast<double>(sum_ns_.Get()) * 1e-9; }

 private:
  std::array<Counter, kBuckets + 1> counts_;
  Counter sum_ns_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_COUNTER_H_
