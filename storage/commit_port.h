#ifndef RINGDHCP_STORAGE_COMMIT_PORT_H_
#define RINGDHCP_STORAGE_COMMIT_PORT_H_

#include <cstdint>
#include <optional>

#include "storage/commit_queue.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// Where a shard hands sealed batches and learns their fate, without waiting. One batch at a time;
/// both calls belong to the shard's thread.
class CommitPort {
 public:
  struct Result {
    BatchResult result;
    std::int64_t commit_ns = 0;  // how long Commit took
  };
  virtual ~CommitPort() = default;
  /// `batch` must stay unchanged until its result was taken; none may be in flight (checked).
  virtual void Submit(const LeaseBatch* batch) = 0;
  /// The result of the batch submitted, once; nullopt while it is not done. Does not block.
  virtual std::optional<Result> TakeResult() = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_COMMIT_PORT_H_
