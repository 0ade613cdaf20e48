#include "server/admin/signal_watcher.h"

#include <csignal>
#include <ctime>
#include <utility>

namespace ringdhcp {
namespace {

sigset_t WatchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  const sigset_t set = WatchedSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A log reader or an HTTP client that went away must not end the server.
  std::signal(SIGPIPE, SIG_IGN);
}

void SignalWatcher::Start(std::function<void(int signal)> on_signal) {
  thread_ = std::thread([this, on_signal = std::move(on_signal)] {
    const sigset_t set = WatchedSignals();
    const timespec patience{0, 100'000'000};
    while (!ending_.load(std::memory_order_relaxed)) {
      const int signal = sigtimedwait(&set, nullptr, &patience);
      if (signal > 0) on_signal(signal);
    }
  });
}

SignalWatcher::~SignalWatcher() {
  ending_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

}  // namespace ringdhcp
