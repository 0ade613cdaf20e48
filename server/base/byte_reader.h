#ifndef RINGDHCP_SERVER_BASE_BYTE_READER_H_
#define RINGDHCP_SERVER_BASE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringdhcp {

/// Reads big-endian fields from a borrowed span. The error is sticky: a read that does not fit
/// moves the cursor to the end, returns zero (or an empty span), and so does every later one.
/// Callers read a whole group of fields and ask ok() once. One thread.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> octets) : rest_(octets) {}

  bool ok() const { return ok_; }
  /// Octets not read yet.
  std::size_t remaining() const { return rest_.size(); }
  bool AtEnd() const { return rest_.empty(); }

  std::uint8_t ReadU8() { return static_cast<std::uint8_t>(ReadNumber(1)); }
  std::uint16_t ReadU16() { return static_cast<std::uint16_t>(ReadNumber(2)); }
  std::uint32_t ReadU32() { return ReadNumber(4); }

  /// The next `size` octets, borrowed from the span of the constructor.
  std::span<const std::uint8_t> ReadOctets(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::span<const std::uint8_t> read = rest_.first(size);
    rest_ = rest_.subspan(size);
    return read;
  }

 private:
  std::uint32_t ReadNumber(std::size_t size) {
    std::uint32_t number = 0;
    for (const std::uint8_t octet : ReadOctets(size)) number = number << 8 | octet;
    return number;
  }

  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_BYTE_READER_H_
