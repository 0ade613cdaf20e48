#ifndef RINGDHCP_SERVER_BASE_RING_BUFFER_H_
#define RINGDHCP_SERVER_BASE_RING_BUFFER_H_

#include <cstddef>
#include <vector>

#include "server/base/check.h"

namespace ringdhcp {

/// A first-in first-out queue of fixed capacity; no allocation after construction. One thread.
template <typename T>
class RingBuffer {
 public:
  explicit RingBuffer(std::size_t capacity) : items_(capacity) {}
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == items_.size(); }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return items_.size(); }
  /// Checked: not full.
  void Push(const T& item) {
    RINGDHCP_CHECK(!full());
    std::size_t end = head_ + size_;
    if (end >= items_.size()) end -= items_.size();
    items_[end] = item;
    ++size_;
  }
  /// Checked: not empty.
  T Pop() {
    RINGDHCP_CHECK(!empty());
    T item = items_[head_];
    if (++head_ == items_.size()) head_ = 0;
    --size_;
    return item;
  }
  const T& Front() const {
    RINGDHCP_CHECK(!empty());
    return items_[head_];
  }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_RING_BUFFER_H_
