#ifndef RINGDHCP_STORAGE_POSTGRES_LAG_CLOCK_H_
#define RINGDHCP_STORAGE_POSTGRES_LAG_CLOCK_H_

#include <cstddef>
#include <cstdint>
#include <deque>

namespace ringdhcp {

/// How old the oldest position is that was appended and not yet taken, in bounded memory: samples
/// of (position, time), thinned out as they age. Times are nanoseconds of one clock. One thread at
/// a time.
class LagClock {
 public:
  static constexpr std::size_t kSamplesMax = 1024;  // even
  static constexpr std::int64_t kSpacingNs = 100'000'000;

  void Appended(std::uint64_t position, std::int64_t now_ns) {
    if (!samples_.empty() && now_ns - samples_.back().time_ns < spacing_ns_) {
      samples_.back().position = position;
      return;
    }
    samples_.push_back({position, now_ns});
    if (samples_.size() < kSamplesMax) return;
    std::deque<Sample> kept;
    for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
      kept.push_back({samples_[i + 1].position, samples_[i].time_ns});
    }
    samples_.swap(kept);
    spacing_ns_ *= 2;
  }

  void TakenThrough(std::uint64_t position) {
    while (!samples_.empty() && samples_.front().position <= position) samples_.pop_front();
    if (samples_.empty()) spacing_ns_ = kSpacingNs;
  }

  /// 0 when nothing waits. Too large by at most the spacing of the samples.
  std::int64_t AgeNs(std::int64_t now_ns) const {
    return samples_.empty() ? 0 : now_ns - samples_.front().time_ns;
  }

 private:
  struct Sample {
    std::uint64_t position;  // the last one appended
    std::int64_t time_ns;    // since the first one was
  };
  std::deque<Sample> samples_;
  std::int64_t spacing_ns_ = kSpacingNs;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_LAG_CLOCK_H_
