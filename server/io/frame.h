#ifndef RINGDHCP_SERVER_IO_FRAME_H_
#define RINGDHCP_SERVER_IO_FRAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "server/base/ipv4.h"

namespace ringdhcp {

/// Ethernet II (14), IPv4 without options (20) and UDP (8), in octets.
inline constexpr std::size_t kFrameHeaderSize = 14 + 20 + 8;
/// What an IPv4 packet can carry behind its IP and UDP headers, in octets.
inline constexpr std::size_t kUdpPayloadMax = 65535 - 20 - 8;

/// What goes into the headers of one UDP datagram sent as a frame.
struct FrameFields {
  std::array<std::uint8_t, 6> source_hardware_address{};
  std::array<std::uint8_t, 6> destination_hardware_address{};
  Ipv4Address source;
  Ipv4Address destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
};

/// Writes the headers that go in front of `payload` (at most kUdpPayloadMax octets, checked), with
/// the header checksum (RFC 791 section 3.1) and the UDP checksum (RFC 768). The packet is marked
/// as not to be fragmented, so its identification may be zero (RFC 6864 section 4.1).
void BuildFrameHeader(const FrameFields& fields, std::span<const std::uint8_t> payload,
                      std::span<std::uint8_t, kFrameHeaderSize> header);

/// The sum of 16-bit words of `octets` in ones' complement, not complemented (RFC 1071), added to
/// `sum`. An odd last octet is padded with zero; only the last part of a sum may be odd. 0 to
/// 65535.
std::uint16_t InternetSum(std::span<const std::uint8_t> octets, std::uint32_t sum = 0);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_FRAME_H_
