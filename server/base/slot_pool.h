#ifndef RINGDHCP_SERVER_BASE_SLOT_POOL_H_
#define RINGDHCP_SERVER_BASE_SLOT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/base/check.h"

namespace ringdhcp {

/// A fixed number of objects handed out by index; last returned is next out, so that the hot ones
/// stay in cache. A double return is caught. One thread.
template <typename Id, typename T>
class SlotPool {
 public:
  explicit SlotPool(std::size_t count) : slots_(count), used_(count, false) {
    free_.reserve(count);
    for (std::size_t i = count; i > 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
  }
  std::size_t free() const { return free_.size(); }
  std::size_t count() const { return slots_.size(); }
  /// Checked: free() >= 1. The object keeps what it held before.
  Id Take() {
    RINGDHCP_CHECK(!free_.empty());
    const std::uint32_t index = free_.back();
    free_.pop_back();
    used_[index] = true;
    return Id(index);
  }
  void Return(Id id) {
    RINGDHCP_CHECK(used_[id.value]);
    used_[id.value] = false;
    free_.push_back(id.value);
  }
  T& operator[](Id id) { return slots_[id.value]; }
  const T& operator[](Id id) const { return slots_[id.value]; }

 private:
  std::vector<T> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<bool> used_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_SLOT_POOL_H_
