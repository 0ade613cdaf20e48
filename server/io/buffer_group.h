#ifndef RINGDHCP_SERVER_IO_BUFFER_GROUP_H_
#define RINGDHCP_SERVER_IO_BUFFER_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct io_uring;
struct io_uring_buf_ring;

namespace ringdhcp {

/// The provided buffers of one interface: memory for `count` buffers and the ring through which the
/// kernel is given them. Who has a buffer is kept, and checked. Owned and used by the ring's
/// thread.
class BufferGroup {
 public:
  /// `count`: a power of two, at most 32768. `size`: octets of each buffer. `group`: the kernel's
  /// buffer group id. Maps the memory; pages become real when first written. RESOURCE_EXHAUSTED
  /// when there is none.
  static absl::StatusOr<std::unique_ptr<BufferGroup>> Make(std::size_t count, std::size_t size,
                                                           std::uint16_t group);
  ~BufferGroup();
  BufferGroup(const BufferGroup&) = delete;
  BufferGroup& operator=(const BufferGroup&) = delete;

  /// Gives the kernel all buffers, whoever had them (IORING_REGISTER_PBUF_RING, Linux 5.19).
  absl::Status Register(io_uring* ring);
  /// Takes the ring from the kernel. No receive may use it any more.
  void Unregister(io_uring* ring);

  /// The kernel has filled the buffer and given it to us. Checked: the kernel had it.
  std::span<std::uint8_t> Take(std::uint16_t buffer);
  /// Gives the buffer to the kernel. Checked: we had it.
  void Return(std::uint16_t buffer);

  /// Buffers the kernel has to fill.
  std::size_t free() const { return free_; }
  std::uint16_t group() const { return group_; }

 private:
  BufferGroup(std::size_t count, std::size_t size, std::uint16_t group);
  void Give(std::uint16_t buffer);

  const std::size_t count_;
  const std::size_t size_;
  const std::size_t stride_;  // size_ rounded up to cache lines, so that buffers share none
  const std::uint16_t group_;
  std::uint8_t* memory_ = nullptr;
  std::size_t memory_size_ = 0;
  io_uring_buf_ring* buffer_ring_ = nullptr;  // start of memory_
  std::uint8_t* buffers_ = nullptr;           // behind it
  std::size_t free_ = 0;
  std::vector<bool> with_us_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_BUFFER_GROUP_H_
