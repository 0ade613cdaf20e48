#ifndef RINGDHCP_TEST_SIM_WIRE_H_
#define RINGDHCP_TEST_SIM_WIRE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/base/ipv4.h"

namespace ringdhcp::sim {

// Message types by their number: the simulation shares no protocol code with the server.
inline constexpr std::uint8_t kDiscover = 1, kOffer = 2, kRequest = 3, kDecline = 4, kAck = 5,
                              kNak = 6, kRelease = 7, kInform = 8;
inline constexpr std::uint8_t kOptionRequested = 50, kOptionLeaseTime = 51, kOptionType = 53,
                              kOptionServer = 54, kOptionT1 = 58, kOptionT2 = 59,
                              kOptionClientId = 61, kOptionRelay = 82;

const char* TypeName(std::uint8_t type);

/// A message as octets and as fields. Written from RFC 2131 figure 1 and RFC 2132, apart from the
/// server's decoder: it judges the server.
struct Packet {
  std::uint8_t op = 1, htype = 1, hlen = 6, hops = 0;
  std::uint32_t xid = 0;
  std::uint16_t secs = 0, flags = 0;
  Ipv4Address ciaddr, yiaddr, giaddr;
  std::array<std::uint8_t, 16> chaddr{};
  std::uint8_t type = 0;  // option 53, 0: none
  /// In wire order, without 53. Values of equal codes are joined (RFC 3396).
  struct Option {
    std::uint8_t code = 0;
    std::vector<std::uint8_t> value;
  };
  std::vector<Option> options;
  /// Option 82 was the last one before the end.
  bool relay_information_last = false;

  const std::vector<std::uint8_t>* Find(std::uint8_t code) const;
  std::optional<Ipv4Address> FindAddress(std::uint8_t code) const;
  std::optional<std::uint32_t> FindNumber(std::uint8_t code) const;
  void Add(std::uint8_t code, std::vector<std::uint8_t> value) {
    options.push_back({code, std::move(value)});
  }
  void AddNumber(std::uint8_t code, std::uint32_t number);
  void AddAddress(std::uint8_t code, Ipv4Address a) { AddNumber(code, a.value); }

  /// First six octets of chaddr as a number.
  std::uint64_t Station() const;
  void SetStation(std::uint64_t station);
  /// Who the client is (RFC 2131 section 4.2): option 61 of at least two octets, else htype and
  /// hardware address. Two packets with equal texts are from one client.
  std::string Identity() const;
  std::vector<std::uint8_t> Encode() const;
};

/// nullopt: no DHCP message at all.
std::optional<Packet> Parse(std::span<const std::uint8_t> octets);

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_WIRE_H_
