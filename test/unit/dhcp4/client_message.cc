#include "test/unit/dhcp4/client_message.h"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "server/base/check.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kGuardPage = 4096;

std::uint8_t HexDigit(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::size_t digit = kDigits.find(c);
  RINGDHCP_CHECK(digit != std::string_view::npos);
  return static_cast<std::uint8_t>(digit);
}

}  // namespace

Octets FromHex(std::string_view hex) {
  std::string digits;
  std::copy_if(hex.begin(), hex.end(), std::back_inserter(digits), [](char c) { return c != ' '; });
  RINGDHCP_CHECK(digits.size() % 2 == 0);
  Octets octets;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(HexDigit(digits[i]) << 4 | HexDigit(digits[i + 1])));
  }
  return octets;
}

Octets ToOctets(std::span<const std::uint8_t> span) { return {span.begin(), span.end()}; }

Ipv4Address Address(std::string_view text) {
  const auto address = Ipv4Address::Parse(text);
  RINGDHCP_CHECK(address.has_value());
  return *address;
}

ClientMessage::ClientMessage() : octets_(kOptionsAt) {
  Set(kOpAt, "01 01 06 00 11223344");
  Set(kChaddrAt, "020000000001");
  Set(kCookieAt, "63825363");
}

ClientMessage::ClientMessage(MessageType type) : ClientMessage() {
  const auto octet = static_cast<std::uint8_t>(type);
  Option(53, {&octet, 1});
}

ClientMessage& ClientMessage::Option(int code, std::span<const std::uint8_t> value) {
  RINGDHCP_CHECK(value.size() <= 255);
  octets_.push_back(static_cast<std::uint8_t>(code));
  octets_.push_back(static_cast<std::uint8_t>(value.size()));
  octets_.insert(octets_.end(), value.begin(), value.end());
  return *this;
}

ClientMessage& ClientMessage::Raw(std::string_view hex) {
  const Octets raw = FromHex(hex);
  octets_.insert(octets_.end(), raw.begin(), raw.end());
  return *this;
}

ClientMessage& ClientMessage::Set(std::size_t offset, std::string_view hex) {
  const Octets field = FromHex(hex);
  RINGDHCP_CHECK(offset + field.size() <= octets_.size());
  std::copy(field.begin(), field.end(), octets_.begin() + static_cast<std::ptrdiff_t>(offset));
  return *this;
}

ClientMessage& ClientMessage::WithoutEnd() {
  end_ = false;
  return *this;
}

ClientMessage& ClientMessage::WithoutPadding() {
  padding_ = false;
  return *this;
}

Octets ClientMessage::Build() const {
  Octets built = octets_;
  if (end_) built.push_back(255);
  if (padding_ && built.size() < 300) built.resize(300);
  return built;
}

GuardedPayload::GuardedPayload() {
  void* const pages =
      mmap(nullptr, 2 * kGuardPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RINGDHCP_CHECK(pages != MAP_FAILED);
  pages_ = static_cast<std::uint8_t*>(pages);
  RINGDHCP_CHECK(mprotect(pages_ + kGuardPage, kGuardPage, PROT_NONE) == 0);
}

GuardedPayload::~GuardedPayload() { munmap(pages_, 2 * kGuardPage); }

std::span<std::uint8_t> GuardedPayload::Hold(std::span<const std::uint8_t> payload) {
  RINGDHCP_CHECK(payload.size() <= kGuardPage);
  const std::span<std::uint8_t> held(pages_ + kGuardPage - payload.size(), payload.size());
  std::copy(payload.begin(), payload.end(), held.begin());
  return held;
}

std::vector<Octets> RecordedMessages() {
  std::ifstream file(RINGDHCP_SOURCE_DIR "/test/golden/client_messages.hex");
  RINGDHCP_CHECK(file.is_open());
  std::vector<Octets> messages;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t blank = line.find(' ');
    RINGDHCP_CHECK(blank != std::string::npos);
    messages.push_back(FromHex(std::string_view(line).substr(blank + 1)));
  }
  return messages;
}

}  // namespace ringdhcp
