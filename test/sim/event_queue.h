#ifndef RINGDHCP_TEST_SIM_EVENT_QUEUE_H_
#define RINGDHCP_TEST_SIM_EVENT_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace ringdhcp::sim {

/// Simulated time and what will happen in it, in the order of time and, at the same time, of entry.
/// Time moves only from event to event.
class EventQueue {
 public:
  using Action = std::function<void()>;

  std::int64_t now_ns() const { return now_ns_; }
  /// Runs `action` at `at_ns`, or now if that is past.
  void At(std::int64_t at_ns, Action action) {
    events_.push_back({std::max(at_ns, now_ns_), next_number_++, std::move(action)});
    std::push_heap(events_.begin(), events_.end(), Later);
  }
  void After(std::int64_t delay_ns, Action action) { At(now_ns_ + delay_ns, std::move(action)); }
  /// Runs the next event if it is due by `until_ns`; else moves the time there and returns false.
  bool RunNext(std::int64_t until_ns) {
    if (events_.empty() || events_.front().at_ns > until_ns) {
      now_ns_ = std::max(now_ns_, until_ns);
      return false;
    }
    std::pop_heap(events_.begin(), events_.end(), Later);
    Event event = std::move(events_.back());
    events_.pop_back();
    now_ns_ = event.at_ns;
    event.action();
    return true;
  }
  void RunUntil(std::int64_t until_ns) {
    while (RunNext(until_ns)) {
    }
  }

 private:
  struct Event {
    std::int64_t at_ns;
    std::uint64_t number;
    Action action;
  };
  static bool Later(const Event& a, const Event& b) {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
  }

  std::int64_t now_ns_ = 1'000'000'000'000;  // like a host that has been up for a while
  std::uint64_t next_number_ = 0;
  std::vector<Event> events_;  // a heap
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_EVENT_QUEUE_H_
