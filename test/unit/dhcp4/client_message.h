#ifndef RINGDHCP_TEST_UNIT_DHCP4_CLIENT_MESSAGE_H_
#define RINGDHCP_TEST_UNIT_DHCP4_CLIENT_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

using Octets = std::vector<std::uint8_t>;

/// The octets of a hex text; blanks are skipped. Aborts on anything else: the texts are constants.
Octets FromHex(std::string_view hex);
Octets ToOctets(std::span<const std::uint8_t> span);
Ipv4Address Address(std::string_view text);

/// Offsets of the fixed fields (RFC 2131 figure 1), written down apart from the decoder's own.
inline constexpr std::size_t kOpAt = 0, kHtypeAt = 1, kHlenAt = 2, kHopsAt = 3, kXidAt = 4,
                             kSecsAt = 8, kFlagsAt = 10, kCiaddrAt = 12, kYiaddrAt = 16,
                             kSiaddrAt = 20, kGiaddrAt = 24, kChaddrAt = 28, kSnameAt = 44,
                             kFileAt = 108, kCookieAt = 236, kOptionsAt = 240;

/// Builds the UDP payload of a client's message: from 02:00:00:00:00:01, without any option until
/// some are added, closed with the end option and padded to 300 octets unless told otherwise.
class ClientMessage {
 public:
  ClientMessage();
  /// A message whose first option is option 53.
  explicit ClientMessage(MessageType type);

  ClientMessage& Option(int code, std::span<const std::uint8_t> value);
  ClientMessage& Option(int code, std::string_view hex) { return Option(code, FromHex(hex)); }
  /// Octets at this place of the options field, well formed or not.
  ClientMessage& Raw(std::string_view hex);
  /// Overwrites octets from `offset` on.
  ClientMessage& Set(std::size_t offset, std::string_view hex);
  ClientMessage& WithoutEnd();
  ClientMessage& WithoutPadding();
  Octets Build() const;

 private:
  Octets octets_;
  bool end_ = true;
  bool padding_ = true;
};

/// A copy of a payload that ends where an unreadable page begins: reading one octet too far ends
/// the process, with or without a sanitizer.
class GuardedPayload {
 public:
  GuardedPayload();
  ~GuardedPayload();
  GuardedPayload(const GuardedPayload&) = delete;
  GuardedPayload& operator=(const GuardedPayload&) = delete;
  /// Valid until the next call. At most 4096 octets.
  std::span<std::uint8_t> Hold(std::span<const std::uint8_t> payload);

 private:
  std::uint8_t* pages_;
};

/// The recorded client messages of test/golden/client_messages.hex, in order.
std::vector<Octets> RecordedMessages();

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_UNIT_DHCP4_CLIENT_MESSAGE_H_
