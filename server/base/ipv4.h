#ifndef RINGDHCP_SERVER_BASE_IPV4_H_
#define RINGDHCP_SERVER_BASE_IPV4_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ringdhcp {

/// An IPv4 address. `value` is in host byte order: 192.0.2.1 is 0xC0000201. A value type.
struct Ipv4Address {
  std::uint32_t value = 0;

  constexpr Ipv4Address() = default;
  constexpr explicit Ipv4Address(std::uint32_t host_order) : value(host_order) {}

  /// Parses dotted decimal of four parts without leading zeros or blanks; nullopt otherwise.
  static std::optional<Ipv4Address> Parse(std::string_view text);
  std::string ToString() const;

  constexpr bool IsZero() const { return value == 0; }
  constexpr bool IsLoopback() const { return (value >> 24) == 127; }
  /// 224.0.0.0/4 (RFC 5771).
  constexpr bool IsMulticast() const { return (value >> 28) == 0xE; }
  /// 240.0.0.0/4 (RFC 1112 section 4), 255.255.255.255 included.
  constexpr bool IsClassE() const { return (value >> 28) == 0xF; }
  constexpr bool IsLimitedBroadcast() const { return value == 0xFFFFFFFFU; }
  /// May stand as the address of one host: not in 0/8, loopback, multicast or class E.
  constexpr bool IsUnicastHost() const {
    return (value >> 24) != 0 && !IsLoopback() && !IsMulticast() && !IsClassE();
  }
  constexpr auto operator<=>(const Ipv4Address&) const = default;
};

inline constexpr Ipv4Address kLimitedBroadcast{0xFFFFFFFFU};

/// A network: `address` with all host bits zero, and a length of 0-32 bits.
struct Ipv4Prefix {
  Ipv4Address address;
  std::uint8_t length = 0;

  /// Parses "a.b.c.d/len". nullopt on bad form or when host bits are set.
  static std::optional<Ipv4Prefix> Parse(std::string_view text);
  std::string ToString() const;

  constexpr std::uint32_t Mask() const {
    return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
  }
  constexpr bool Contains(Ipv4Address a) const { return (a.value & Mask()) == address.value; }
  constexpr bool Overlaps(const Ipv4Prefix& o) const {
    return Contains(o.address) || o.Contains(address);
  }
  constexpr Ipv4Address Broadcast() const { return Ipv4Address(address.value | ~Mask()); }
  constexpr auto operator<=>(const Ipv4Prefix&) const = default;
};

}  // namespace ringdhcp

template <>
struct std::hash<ringdhcp::Ipv4Address> {
  std::size_t operator()(ringdhcp::Ipv4Address a) const noexcept {
    return static_cast<std::size_t>(a.value) * 0x9E3779B97F4A7C15ULL;
  }
};

#endif  // RINGDHCP_SERVER_BASE_IPV4_H_
