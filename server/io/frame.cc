#include "server/io/frame.h"

#include <algorithm>

#include "server/base/check.h"

namespace ringdhcp {
namespace {

constexpr std::size_t kEthernetSize = 14;
constexpr std::size_t kIpv4Size = 20;
constexpr std::size_t kUdpSize = 8;
constexpr std::uint8_t kTimeToLive = 64;
constexpr std::uint8_t kProtocolUdp = 17;

void Put16(std::span<std::uint8_t> out, std::size_t offset, std::size_t value) {
  out[offset] = static_cast<std::uint8_t>(value >> 8);
  out[offset + 1] = static_cast<std::uint8_t>(value);
}

void Put32(std::span<std::uint8_t> out, std::size_t offset, std::uint32_t value) {
  Put16(out, offset, value >> 16);
  Put16(out, offset + 2, value & 0xFFFF);
}

}  // namespace

std::uint16_t InternetSum(std::span<const std::uint8_t> octets, std::uint32_t sum) {
  // 65535 octets add less than 2^31, so 64 bits can't overflow before the fold.
  std::uint64_t total = sum;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) {
    total += static_cast<std::uint32_t>(octets[i] << 8 | octets[i + 1]);
  }
  if (i < octets.size()) total += static_cast<std::uint32_t>(octets[i] << 8);
  while (total > 0xFFFF) total = (total & 0xFFFF) + (total >> 16);
  return static_cast<std::uint16_t>(total);
}

void BuildFrameHeader(const FrameFields& fields, std::span<const std::uint8_t> payload,
                      std::span<std::uint8_t, kFrameHeaderSize> header) {
  RINGDHCP_CHECK(payload.size() <= kUdpPayloadMax);
  std::ranges::fill(header, std::uint8_t{0});
  std::ranges::copy(fields.destination_hardware_address, header.begin());
  std::ranges::copy(fields.source_hardware_address, header.begin() + 6);
  Put16(header, 12, 0x0800);  // IPv4

  const std::span<std::uint8_t> ip = header.subspan(kEthernetSize, kIpv4Size);
  const std::size_t udp_length = kUdpSize + payload.size();
  ip[0] = 0x45;  // version 4, five words
  Put16(ip, 2, kIpv4Size + udp_length);
  Put16(ip, 6, 0x4000);  // don't fragment
  ip[8] = kTimeToLive;
  ip[9] = kProtocolUdp;
  Put32(ip, 12, fields.source.value);
  Put32(ip, 16, fields.destination.value);
  Put16(ip, 10, static_cast<std::uint16_t>(~InternetSum(ip)));

  const std::span<std::uint8_t> udp = header.subspan(kEthernetSize + kIpv4Size, kUdpSize);
  Put16(udp, 0, fields.source_port);
  Put16(udp, 2, fields.destination_port);
  Put16(udp, 4, udp_length);
  // The pseudo header: both addresses, the protocol and the UDP length.
  std::uint32_t sum = InternetSum(ip.subspan(12, 8));
  sum = InternetSum(udp, sum + kProtocolUdp + static_cast<std::uint32_t>(udp_length));
  const auto checksum = static_cast<std::uint16_t>(~InternetSum(payload, sum));
  // Zero means "no checksum"; its other form in ones' complement is sent (RFC 768).
  Put16(udp, 6, checksum == 0 ? 0xFFFF : checksum);
}

}  // namespace ringdhcp
