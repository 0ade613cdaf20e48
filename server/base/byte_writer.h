#ifndef RINGDHCP_SERVER_BASE_BYTE_WRITER_H_
#define RINGDHCP_SERVER_BASE_BYTE_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ringdhcp {

/// Writes big-endian fields into a borrowed span. The error is sticky: a write that does not fit
/// writes nothing, and after it nothing more is written. One thread.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::uint8_t> octets) : octets_(octets) {}

  bool ok() const { return ok_; }
  /// Octets written.
  std::size_t size() const { return size_; }
  /// Octets that can still be written; 0 after an error.
  std::size_t remaining() const { return ok_ ? octets_.size() - size_ : 0; }

  void WriteU8(std::uint8_t number) { WriteNumber(number, 1); }
  void WriteU16(std::uint16_t number) { WriteNumber(number, 2); }
  void WriteU32(std::uint32_t number) { WriteNumber(number, 4); }
  void WriteOctets(std::span<const std::uint8_t> octets) {
    if (Reserve(octets.size())) std::copy(octets.begin(), octets.end(), Take(octets.size()));
  }
  void WriteZeros(std::size_t count) {
    if (Reserve(count)) std::fill_n(Take(count), count, std::uint8_t{0});
  }

 private:
  bool Reserve(std::size_t count) {
    if (count > remaining()) ok_ = false;
    return ok_;
  }
  std::span<std::uint8_t>::iterator Take(std::size_t count) {
    const auto at = octets_.begin() + static_cast<std::ptrdiff_t>(size_);
    size_ += count;
    return at;
  }
  void WriteNumber(std::uint32_t number, std::size_t size) {
    if (!Reserve(size)) return;
    auto at = Take(size);
    for (std::size_t i = size; i-- > 0;) *at++ = static_cast<std::uint8_t>(number >> (8 * i));
  }

  std::span<std::uint8_t> octets_;
  std::size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_BYTE_WRITER_H_
