#ifndef RINGDHCP_SERVER_DHCP4_ENCODE_H_
#define RINGDHCP_SERVER_DHCP4_ENCODE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/base/check.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// One option of a reply. `value` is borrowed and must outlive Encode.
struct ReplyOption {
  OptionCode code{};
  /// Must be in the reply, or the reply may not be sent (51, 53, 54, 61). The others are tried in
  /// order when there is not room for all of them, and each one that does not fit any more is left
  /// out. Option 82 comes between the two: RFC 3046 section 2.2.
  bool required = false;
  std::span<const std::uint8_t> value;
};

/// A reply before encoding: header and options in wire order. Holds at most 64 options.
class Reply {
 public:
  static constexpr std::size_t kOptionsMax = 64;
  Header header;
  /// Appends; the caller keeps the order 53, 54, 51, requested..., adds each code at most once, and
  /// neither 52, which is the encoder's own, nor 82.
  void Add(OptionCode code, std::span<const std::uint8_t> value, bool required = false) {
    RINGDHCP_CHECK(count_ < kOptionsMax);
    options_[count_++] = {code, required, value};
  }
  std::span<const ReplyOption> options() const { return {options_.data(), count_}; }
  void Clear() {
    header = Header{};
    count_ = 0;
    relay_agent_information.reset();
  }
  /// Option 82 as received, echoed byte for byte as the last option, in the options field only.
  std::optional<std::span<const std::uint8_t>> relay_agent_information;

 private:
  std::array<ReplyOption, kOptionsMax> options_{};
  std::size_t count_ = 0;
};

struct EncodeResult {
  /// Octets written; 0 when the required options did not fit.
  std::size_t size = 0;
  /// Optional options left out for lack of room, option 82 included.
  std::size_t options_dropped = 0;
};

/// The largest UDP payload the client takes: option 57 counts the IP datagram, so 28 octets less;
/// absent or below 576 means 576 (RFC 2131 section 2); capped by `interface_mtu` and
/// kReplyPayloadMax. Result is in [548, 1472] unless the MTU is smaller than 576.
std::size_t MaximumPayload(const OptionSet& options, std::size_t interface_mtu);

/// Encodes `reply` into `out`, at most `payload_max` octets (and out.size()). Values of more than
/// 255 octets are split (RFC 3396); when the options field is full, `file` then `sname` take what
/// fits there (option 52), in order within each field. 53, 54, 51 and 82 stay in the options field.
/// A shorter value is split over the fields only if it is required. Padded to 300 octets after the
/// end option, or to the space if that is smaller. On size 0 `out` holds nothing of use. No
/// allocation.
EncodeResult Encode(const Reply& reply, std::size_t payload_max, std::span<std::uint8_t> out);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_DHCP4_ENCODE_H_
