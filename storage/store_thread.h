#ifndef RINGDHCP_STORAGE_STORE_THREAD_H_
#define RINGDHCP_STORAGE_STORE_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "storage/commit_port.h"
#include "storage/commit_queue.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// Runs Commit on a thread of its own so that the ring never waits for the disk. One batch at a
/// time. Submit and TakeResult belong to the shard's thread.
class StoreThread final : public CommitPort {
 public:
  /// `wake` is called on the store thread after each commit; it must be thread-safe and brief.
  StoreThread(std::unique_ptr<LeaseStore> store, std::function<void()> wake);
  /// Finishes the batch in hand, then ends the thread.
  ~StoreThread() override;
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  void Submit(const LeaseBatch* batch) override;
  std::optional<Result> TakeResult() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_STORE_THREAD_H_
