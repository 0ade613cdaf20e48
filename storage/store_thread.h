#ifndef RINGDHCP_STORAGE_STORE_THREAD_H_
#define RINGDHCP_STORAGE_STORE_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "storage/commit_queue.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// Runs Commit on a thread of its own so that the ring never waits for the disk. One batch at a
/// time. Submit and TakeResult belong to the shard's thread.
class StoreThread {
 public:
  struct Result {
    BatchResult result;
    std::int64_t commit_ns = 0;  // how long Commit took
  };
  /// `wake` is called on the store thread after each commit; it must be thread-safe and brief.
  StoreThread(std::unique_ptr<LeaseStore> store, std::function<void()> wake);
  /// Finishes the batch in hand, then ends the thread.
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  /// `batch` must stay unchanged until its result was taken; none may be in flight (checked).
  void Submit(const LeaseBatch* batch);
  /// The result of the batch submitted, once; nullopt while it is not done. Does not block.
  std::optional<Result> TakeResult();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_STORE_THREAD_H_
