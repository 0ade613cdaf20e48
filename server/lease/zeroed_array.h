#ifndef RINGDHCP_SERVER_LEASE_ZEROED_ARRAY_H_
#define RINGDHCP_SERVER_LEASE_ZEROED_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "server/base/check.h"

namespace ringdhcp {

/// A fixed array of zero octets whose pages the kernel supplies when they are first written, so
/// that a pool of ten million addresses costs only what it uses. Aligned to a cache line.
/// All-zero octets must be a valid T. Checked: the address space is there. One thread.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit ZeroedArray(std::size_t size) : size_(size) {
    RINGDHCP_CHECK(size < (std::size_t{1} << 40));
    memory_ = std::calloc(size * sizeof(T) + kAlignment, 1);
    RINGDHCP_CHECK(memory_ != nullptr);
    const auto start = reinterpret_cast<std::uintptr_t>(memory_);
    items_ = reinterpret_cast<T*>((start + kAlignment - 1) & ~std::uintptr_t{kAlignment - 1});
  }
  ~ZeroedArray() { std::free(memory_); }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::size_t size_;
  void* memory_ = nullptr;
  T* items_ = nullptr;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_ZEROED_ARRAY_H_
