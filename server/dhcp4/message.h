#ifndef RINGDHCP_SERVER_DHCP4_MESSAGE_H_
#define RINGDHCP_SERVER_DHCP4_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/base/ipv4.h"

namespace ringdhcp {

/// Values of option 53 (RFC 2132 section 9.6; 10-13: RFC 4388).
enum class MessageType : std::uint8_t {
  kDiscover = 1,
  kOffer = 2,
  kRequest = 3,
  kDecline = 4,
  kAck = 5,
  kNak = 6,
  kRelease = 7,
  kInform = 8,
};

/// Option codes this server reads or writes by name (RFC 2132 and as noted).
enum class OptionCode : std::uint8_t {
  kPad = 0,
  kSubnetMask = 1,
  kRouters = 3,
  kDomainNameServers = 6,
  kHostName = 12,
  kDomainName = 15,
  kInterfaceMtu = 26,
  kBroadcastAddress = 28,
  kNtpServers = 42,
  kRequestedAddress = 50,
  kLeaseTime = 51,
  kOverload = 52,
  kMessageType = 53,
  kServerIdentifier = 54,
  kParameterRequestList = 55,
  kMessage = 56,
  kMaximumMessageSize = 57,
  kRenewalTime = 58,
  kRebindingTime = 59,
  kVendorClass = 60,
  kClientIdentifier = 61,
  kClientFqdn = 81,             // RFC 4702
  kRelayAgentInformation = 82,  // RFC 3046
  kSubnetSelection = 118,       // RFC 3011
  kEnd = 255,
};

inline constexpr std::size_t kBootpHeaderSize = 236;       // RFC 951 up to and including `file`
inline constexpr std::uint32_t kMagicCookie = 0x63825363;  // RFC 2131 section 3
inline constexpr std::size_t kDatagramMax = 2048;          // receive buffer payload, octets
inline constexpr std::size_t kReplyPayloadMin = 300;       // RFC 1542 section 2.1
inline constexpr std::size_t kReplyPayloadMax = 1472;      // 1500 - IP 20 - UDP 8
inline constexpr std::size_t kChaddrSize = 16;
inline constexpr std::uint8_t kBootRequest = 1;
inline constexpr std::uint8_t kBootReply = 2;
inline constexpr std::uint16_t kBroadcastFlag = 0x8000;  // RFC 2131 figure 2
inline constexpr std::uint8_t kHardwareTypeEthernet = 1;

/// The fixed BOOTP fields, in host byte order (RFC 2131 figure 1, without sname and file).
struct Header {
  std::uint8_t op = 0;
  std::uint8_t htype = 0;
  std::uint8_t hlen = 0;  // as received; decode refuses above 16
  std::uint8_t hops = 0;
  std::uint32_t xid = 0;
  std::uint16_t secs = 0;
  std::uint16_t flags = 0;
  Ipv4Address ciaddr, yiaddr, siaddr, giaddr;
  std::array<std::uint8_t, kChaddrSize> chaddr{};

  /// The hardware address proper: the first hlen octets of chaddr.
  std::span<const std::uint8_t> HardwareAddress() const { return {chaddr.data(), hlen}; }
};

/// The options of one message, same codes joined in order of appearance (RFC 3396), in the order
/// options, file, sname (RFC 2132 section 9.3). Owns its octets; no allocation. One thread.
class OptionSet {
 public:
  /// The joined value; nullopt when absent. An empty span is a present option of length 0.
  /// Valid until the set is decoded into again.
  std::optional<std::span<const std::uint8_t>> Find(OptionCode code) const {
    const Entry& e = entries_[static_cast<std::size_t>(code)];
    if (!e.present) return std::nullopt;
    return std::span<const std::uint8_t>(octets_.data() + e.offset, e.length);
  }
  bool Has(OptionCode code) const { return entries_[static_cast<std::size_t>(code)].present; }
  /// The value as an address; nullopt when absent or not exactly 4 octets.
  std::optional<Ipv4Address> FindAddress(OptionCode code) const;
  /// The value as a 32-bit / 16-bit / 8-bit number; nullopt when absent or of another size.
  std::optional<std::uint32_t> FindU32(OptionCode code) const;
  std::optional<std::uint16_t> FindU16(OptionCode code) const;
  std::optional<std::uint8_t> FindU8(OptionCode code) const;

 private:
  friend class Decoder;
  struct Entry {
    std::uint16_t offset = 0;
    std::uint16_t length = 0;
    bool present = false;
  };
  std::array<Entry, 256> entries_{};
  std::array<std::uint8_t, kDatagramMax> octets_;
};

/// One decoded client message; a value without pointers into the packet. About 4 KiB: a shard
/// keeps one and decodes into it again and again.
struct Message {
  Header header;
  MessageType type{};
  OptionSet options;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_DHCP4_MESSAGE_H_
