#ifndef RINGDHCP_TEST_SUPPORT_CLIENT_MESSAGE_H_
#define RINGDHCP_TEST_SUPPORT_CLIENT_MESSAGE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"

namespace ringdhcp::test {

inline Ipv4Address Address(std::string_view text) { return Ipv4Address::Parse(text).value(); }
inline Ipv4Prefix Prefix(std::string_view text) { return Ipv4Prefix::Parse(text).value(); }

/// A client's message, made as octets and decoded, as the server would see it. The hardware address
/// is 02:00:00 and the client's number.
class ClientMessage {
 public:
  ClientMessage(MessageType type, std::uint32_t client);
  ClientMessage& Ciaddr(Ipv4Address address);
  ClientMessage& Siaddr(Ipv4Address address);
  ClientMessage& Flags(std::uint16_t flags);
  /// Sets giaddr and one hop.
  ClientMessage& Relay(Ipv4Address giaddr);
  ClientMessage& Hardware(std::uint8_t htype, std::vector<std::uint8_t> address);
  ClientMessage& Option(OptionCode code, std::span<const std::uint8_t> value);
  ClientMessage& Option(OptionCode code, std::vector<std::uint8_t> value);
  ClientMessage& Option(OptionCode code, std::string_view text);
  ClientMessage& Option(OptionCode code, Ipv4Address address);
  ClientMessage& Number(OptionCode code, std::uint32_t number);
  ClientMessage& Requested(Ipv4Address a) { return Option(OptionCode::kRequestedAddress, a); }
  ClientMessage& Server(Ipv4Address a) { return Option(OptionCode::kServerIdentifier, a); }
  ClientMessage& LeaseTime(std::uint32_t s) { return Number(OptionCode::kLeaseTime, s); }
  ClientMessage& Id(std::vector<std::uint8_t> id) {
    return Option(OptionCode::kClientIdentifier, std::move(id));
  }
  /// The UDP payload, with its end option.
  std::vector<std::uint8_t> Payload() const;
  /// Fails the test when the message does not decode.
  const Message& Decoded();
  operator const Message&() { return Decoded(); }

 private:
  std::vector<std::uint8_t> octets_;
  Message message_;
};

}  // namespace ringdhcp::test

#endif  // RINGDHCP_TEST_SUPPORT_CLIENT_MESSAGE_H_
