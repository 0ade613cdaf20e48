#include "test/support/client_message.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/dhcp4/decode.h"

namespace ringdhcp::test {

namespace {

constexpr std::size_t kFlagsAt = 10;
constexpr std::size_t kCiaddrAt = 12;
constexpr std::size_t kSiaddrAt = 20;
constexpr std::size_t kGiaddrAt = 24;
constexpr std::size_t kChaddrAt = 28;

std::vector<std::uint8_t> Octets(std::uint32_t number) {
  return {static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
          static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
}

void Write(std::vector<std::uint8_t>& octets, std::size_t at, std::uint32_t number) {
  std::ranges::copy(Octets(number), octets.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

ClientMessage::ClientMessage(MessageType type, std::uint32_t client) : octets_(kBootpHeaderSize) {
  octets_[0] = kBootRequest;
  octets_[1] = kHardwareTypeEthernet;
  octets_[2] = 6;
  Write(octets_, 4, 0x1234);
  octets_[kChaddrAt] = 0x02;
  Write(octets_, kChaddrAt + 2, client);
  std::ranges::copy(Octets(kMagicCookie), std::back_inserter(octets_));
  Option(OptionCode::kMessageType, std::vector{static_cast<std::uint8_t>(type)});
}

ClientMessage& ClientMessage::Ciaddr(Ipv4Address address) {
  Write(octets_, kCiaddrAt, address.value);
  return *this;
}

ClientMessage& ClientMessage::Siaddr(Ipv4Address address) {
  Write(octets_, kSiaddrAt, address.value);
  return *this;
}

ClientMessage& ClientMessage::Flags(std::uint16_t flags) {
  octets_[kFlagsAt] = static_cast<std::uint8_t>(flags >> 8);
  octets_[kFlagsAt + 1] = static_cast<std::uint8_t>(flags);
  return *this;
}

ClientMessage& ClientMessage::Relay(Ipv4Address giaddr) {
  Write(octets_, kGiaddrAt, giaddr.value);
  octets_[3] = 1;
  return *this;
}

ClientMessage& ClientMessage::Hardware(std::uint8_t htype, std::vector<std::uint8_t> address) {
  octets_[1] = htype;
  octets_[2] = static_cast<std::uint8_t>(address.size());
  const auto chaddr = octets_.begin() + kChaddrAt;
  std::fill(chaddr, chaddr + kChaddrSize, std::uint8_t{0});
  std::ranges::copy(address, chaddr);
  return *this;
}

// Long values are split (RFC 3396).
ClientMessage& ClientMessage::Option(OptionCode code, std::span<const std::uint8_t> value) {
  do {
    const std::size_t size = std::min<std::size_t>(value.size(), 255);
    octets_.push_back(static_cast<std::uint8_t>(code));
    octets_.push_back(static_cast<std::uint8_t>(size));
    octets_.insert(octets_.end(), value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
    value = value.subspan(size);
  } while (!value.empty());
  return *this;
}

ClientMessage& ClientMessage::Option(OptionCode code, std::vector<std::uint8_t> value) {
  return Option(code, std::span<const std::uint8_t>(value));
}

ClientMessage& ClientMessage::Option(OptionCode code, std::string_view text) {
  return Option(code, std::vector<std::uint8_t>(text.begin(), text.end()));
}

ClientMessage& ClientMessage::Option(OptionCode code, Ipv4Address address) {
  return Option(code, Octets(address.value));
}

ClientMessage& ClientMessage::Number(OptionCode code, std::uint32_t number) {
  return Option(code, Octets(number));
}

std::vector<std::uint8_t> ClientMessage::Payload() const {
  std::vector<std::uint8_t> payload = octets_;
  payload.push_back(static_cast<std::uint8_t>(OptionCode::kEnd));
  return payload;
}

const Message& ClientMessage::Decoded() {
  const auto drop = Decode(Payload(), message_);
  EXPECT_FALSE(drop.has_value()) << (drop ? DropReasonLabel(*drop) : "");
  return message_;
}

}  // namespace ringdhcp::test
