#include "server/io/buffer_group.h"

#include <liburing.h>
#include <sys/mman.h>

#include <bit>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "server/base/check.h"

namespace ringdhcp {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPage = 4096;

constexpr std::size_t RoundUp(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

BufferGroup::BufferGroup(std::size_t count, std::size_t size, std::uint16_t group)
    : count_(count),
      size_(size),
      stride_(RoundUp(size, kCacheLine)),
      group_(group),
      with_us_(count, true) {}

absl::StatusOr<std::unique_ptr<BufferGroup>> BufferGroup::Make(std::size_t count, std::size_t size,
                                                               std::uint16_t group) {
  RINGDHCP_CHECK(std::has_single_bit(count) && count <= 32768);
  RINGDHCP_CHECK(size > 0 && size < (std::size_t{1} << 31));
  std::unique_ptr<BufferGroup> made(new BufferGroup(count, size, group));
  // The kernel wants the ring of descriptors to begin on a page.
  const std::size_t ring_size = RoundUp(count * sizeof(io_uring_buf), kPage);
  const std::size_t memory_size = ring_size + count * made->stride_;
  void* memory =
      mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("cannot map ", memory_size, " octets for the receive buffers"));
  }
  made->memory_ = static_cast<std::uint8_t*>(memory);
  made->memory_size_ = memory_size;
  made->buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
  made->buffers_ = made->memory_ + ring_size;
  return made;
}

BufferGroup::~BufferGroup() {
  if (memory_ != nullptr) munmap(memory_, memory_size_);
}

absl::Status BufferGroup::Register(io_uring* ring) {
  io_uring_buf_ring_init(buffer_ring_);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(buffer_ring_);
  registration.ring_entries = static_cast<std::uint32_t>(count_);
  registration.bgid = group_;
  const int result = io_uring_register_buf_ring(ring, &registration, 0);
  if (result < 0) {
    return absl::ErrnoToStatus(-result,
                               "cannot register a provided-buffer ring with io_uring "
                               "(IORING_REGISTER_PBUF_RING, Linux 5.19 or newer)");
  }
  free_ = 0;
  for (std::size_t b = 0; b < count_; ++b) Give(static_cast<std::uint16_t>(b));
  return absl::OkStatus();
}

void BufferGroup::Unregister(io_uring* ring) {
  RINGDHCP_CHECK(io_uring_unregister_buf_ring(ring, group_) == 0);
  free_ = 0;
  with_us_.assign(count_, true);
}

void BufferGroup::Give(std::uint16_t buffer) {
  with_us_[buffer] = false;
  ++free_;
  io_uring_buf_ring_add(buffer_ring_, buffers_ + buffer * stride_, static_cast<unsigned>(size_),
                        buffer, io_uring_buf_ring_mask(static_cast<std::uint32_t>(count_)), 0);
  io_uring_buf_ring_advance(buffer_ring_, 1);
}

std::span<std::uint8_t> BufferGroup::Take(std::uint16_t buffer) {
  RINGDHCP_CHECK(buffer < count_ && !with_us_[buffer]);
  with_us_[buffer] = true;
  --free_;
  return {buffers_ + buffer * stride_, size_};
}

void BufferGroup::Return(std::uint16_t buffer) {
  RINGDHCP_CHECK(buffer < count_ && with_us_[buffer]);
  Give(buffer);
}

}  // namespace ringdhcp
