#include "server/base/ipv4.h"

#include <charconv>

namespace ringdhcp {

namespace {

// Reads a decimal number of at most `digits_max` digits without a leading zero.
std::optional<std::uint32_t> ParseNumber(std::string_view text, std::size_t digits_max) {
  if (text.empty() || text.size() > digits_max || (text.size() > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Ipv4Address> Ipv4Address::Parse(std::string_view text) {
  std::uint32_t value = 0;
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = part < 3 ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = ParseNumber(text.substr(0, dot), 3);
    if (!number || *number > 255) return std::nullopt;
    value = value << 8 | *number;
    text.remove_prefix(part < 3 ? dot + 1 : dot);
  }
  return Ipv4Address(value);
}

std::string Ipv4Address::ToString() const {
  return std::to_string(value >> 24) + '.' + std::to_string(value >> 16 & 255) + '.' +
         std::to_string(value >> 8 & 255) + '.' + std::to_string(value & 255);
}

std::optional<Ipv4Prefix> Ipv4Prefix::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto parsed = Ipv4Address::Parse(text.substr(0, slash));
  const auto bits = ParseNumber(text.substr(slash + 1), 2);
  if (!parsed || !bits || *bits > 32) return std::nullopt;
  const Ipv4Prefix prefix{*parsed, static_cast<std::uint8_t>(*bits)};
  if (!prefix.Contains(*parsed)) return std::nullopt;
  return prefix;
}

std::string Ipv4Prefix::ToString() const {
  return address.ToString() + '/' + std::to_string(length);
}

}  // namespace ringdhcp
