#include "storage/store_thread.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/base/check.h"

namespace ringdhcp {

struct StoreThread::Impl {
  Impl(std::unique_ptr<LeaseStore> lease_store, std::function<void()> wake_shard)
      : store(std::move(lease_store)), wake(std::move(wake_shard)) {}

  void Run();
  Result CommitTimed(const LeaseBatch& batch);
  void Wake();

  // The store thread's alone while it runs.
  const std::unique_ptr<LeaseStore> store;
  const std::function<void()> wake;

  std::mutex mutex;
  std::condition_variable changed;
  const LeaseBatch* batch = nullptr;  // handed over, not yet begun
  std::optional<Result> result;       // done, not yet taken
  bool in_flight = false;             // from Submit until its result was taken
  bool stopping = false;

  std::thread thread;
};

void StoreThread::Impl::Run() {
  pthread_setname_np(pthread_self(), "ringdhcp-store");
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return batch != nullptr || stopping; });
    if (batch == nullptr) return;
    const LeaseBatch* const current = std::exchange(batch, nullptr);
    lock.unlock();
    Result done = CommitTimed(*current);
    lock.lock();
    result = std::move(done);
    lock.unlock();
    Wake();
    lock.lock();
  }
}

StoreThread::Result StoreThread::Impl::CommitTimed(const LeaseBatch& current) {
  const auto start = std::chrono::steady_clock::now();
  Result done;
  // Commit promises not to throw; a store that breaks the promise must not end the server.
  try {
    done.result = store->Commit(current.rows);
  } catch (const std::exception& e) {
    done.result = {BatchOutcome::kUnknown,
                   absl::InternalError(absl::StrCat("exception in the lease store: ", e.what()))};
  } catch (...) {
    done.result = {BatchOutcome::kUnknown, absl::InternalError("exception in the lease store")};
  }
  done.commit_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  return done;
}

void StoreThread::Impl::Wake() {
  if (!wake) return;
  // A lost wake-up costs the shard a wait, no more; it asks for the result in each turn.
  try {
    wake();
  } catch (...) {
  }
}

StoreThread::StoreThread(std::unique_ptr<LeaseStore> store, std::function<void()> wake)
    : impl_(std::make_unique<Impl>(std::move(store), std::move(wake))) {
  RINGDHCP_CHECK(impl_->store != nullptr);
  // Signals are for the thread that made us; a new thread inherits the mask of its maker.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl_->thread = std::thread([impl = impl_.get()] { impl->Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StoreThread::~StoreThread() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_one();
  impl_->thread.join();
}

void StoreThread::Submit(const LeaseBatch* batch) {
  RINGDHCP_CHECK(batch != nullptr);
  {
    const std::lock_guard lock(impl_->mutex);
    RINGDHCP_CHECK(!impl_->in_flight);
    impl_->in_flight = true;
    impl_->batch = batch;
  }
  impl_->changed.notify_one();
}

std::optional<StoreThread::Result> StoreThread::TakeResult() {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->result.has_value()) return std::nullopt;
  impl_->in_flight = false;
  return std::exchange(impl_->result, std::nullopt);
}

}  // namespace ringdhcp
