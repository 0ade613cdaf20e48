#include "storage/postgres/socket_guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace ringdhcp {

struct SocketGuard::Impl {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::mutex mutex;
  std::condition_variable changed;
  int socket = -1;  // a duplicate, so that the number can't become another file's meanwhile
  std::optional<TimePoint> deadline;
  bool cut_for_good = false;
  bool stopping = false;
  std::thread thread;

  void Cut() {
    if (socket >= 0) ::shutdown(socket, SHUT_RDWR);
    deadline.reset();
  }

  void Run() {
    pthread_setname_np(pthread_self(), "ringdhcp-pgwatch");
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (!deadline.has_value()) {
        changed.wait(lock);
      } else if (std::chrono::steady_clock::now() >= *deadline) {
        Cut();
      } else {
        changed.wait_until(lock, TimePoint(*deadline));
      }
    }
  }
};

SocketGuard::SocketGuard() : impl_(std::make_unique<Impl>()) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SocketGuard::~SocketGuard() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_one();
  impl_->thread.join();
  if (impl_->socket >= 0) ::close(impl_->socket);
}

void SocketGuard::Watch(int socket) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->socket >= 0) ::close(impl_->socket);
  impl_->socket = socket >= 0 ? ::fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1;
  impl_->deadline.reset();
  if (impl_->cut_for_good) impl_->Cut();
}

void SocketGuard::Arm(std::chrono::milliseconds limit) {
  const std::lock_guard lock(impl_->mutex);
  const bool was_armed = impl_->deadline.has_value();
  impl_->deadline = std::chrono::steady_clock::now() + limit;
  // A later deadline is noticed when the earlier one has come.
  if (!was_armed) impl_->changed.notify_one();
}

void SocketGuard::Disarm() {
  const std::lock_guard lock(impl_->mutex);
  impl_->deadline.reset();
}

void SocketGuard::CutForGood() {
  const std::lock_guard lock(impl_->mutex);
  impl_->cut_for_good = true;
  impl_->Cut();
}

}  // namespace ringdhcp
