#ifndef RINGDHCP_SERVER_ADMIN_SIGNAL_WATCHER_H_
#define RINGDHCP_SERVER_ADMIN_SIGNAL_WATCHER_H_

#include <atomic>
#include <functional>
#include <thread>

namespace ringdhcp {

/// Takes SIGTERM, SIGINT and SIGHUP on a thread of its own, so that no handler runs in the middle
/// of anything. Must be made before every other thread: those inherit the blocked signals.
class SignalWatcher {
 public:
  SignalWatcher();
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// Starts the thread; `on_signal` is called on it for each signal.
  void Start(std::function<void(int signal)> on_signal);

 private:
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_SIGNAL_WATCHER_H_
