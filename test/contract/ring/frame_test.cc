#include "server/io/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ringdhcp {
namespace {

TEST(Frame, SumsTheExampleOfRfc1071Section3) {
  const std::array<std::uint8_t, 8> octets = {0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7};
  EXPECT_EQ(InternetSum(octets), 0xDDF2);
}

TEST(Frame, PadsAnOddOctetWithZero) {
  const std::array<std::uint8_t, 3> octets = {0x12, 0x34, 0x56};
  EXPECT_EQ(InternetSum(octets), 0x1234 + 0x5600);
}

TEST(Frame, FoldsEveryCarry) {
  const std::vector<std::uint8_t> ones(65534, 0xFF);
  EXPECT_EQ(InternetSum(ones), 0xFFFF);
  EXPECT_EQ(InternetSum(ones, 1), 1);
}

// Octets worked out by hand from RFC 791 section 3.1 and RFC 768.
TEST(Frame, WritesEthernetIpv4AndUdp) {
  FrameFields fields;
  fields.source_hardware_address = {2, 0, 0, 0, 0, 1};
  fields.destination_hardware_address = {2, 0, 0, 0, 0, 2};
  fields.source = Ipv4Address(0xC0000201);       // 192.0.2.1
  fields.destination = Ipv4Address(0xC0000202);  // 192.0.2.2
  fields.source_port = 67;
  fields.destination_port = 68;
  const std::array<std::uint8_t, 3> payload = {0x01, 0x02, 0x03};
  std::array<std::uint8_t, kFrameHeaderSize> header;
  header.fill(0xEE);
  BuildFrameHeader(fields, payload, header);
  // IP: 4500+001F+0000+4000+4011+C000+0201+C000+0202 = 24933, folded 4935, complement B6CA.
  // UDP: C000+0201+C000+0202+0011+000B+0043+0044+000B+0102+0300 = 188B3, folded 88B4, 774B.
  const std::array<std::uint8_t, kFrameHeaderSize> expected = {
      2,    0,    0,    0,    0,    2,    2,    0,    0,    0,    0,    1,    0x08, 0x00,
      0x45, 0x00, 0x00, 0x1F, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xB6, 0xCA, 0xC0, 0x00,
      0x02, 0x01, 0xC0, 0x00, 0x02, 0x02, 0x00, 0x43, 0x00, 0x44, 0x00, 0x0B, 0x77, 0x4B};
  EXPECT_EQ(header, expected);
}

TEST(Frame, SendsAZeroChecksumAsAllOnes) {
  // RFC 768: zero says that there is no checksum. The payload makes the sum come out as all ones.
  FrameFields fields;
  fields.source = Ipv4Address(0xC0000201);
  fields.destination = Ipv4Address(0xC0000202);
  std::array<std::uint8_t, 2> payload = {0, 0};
  std::array<std::uint8_t, kFrameHeaderSize> header;
  BuildFrameHeader(fields, payload, header);
  payload = {header[40], header[41]};
  BuildFrameHeader(fields, payload, header);
  EXPECT_EQ(header[40], 0xFF);
  EXPECT_EQ(header[41], 0xFF);
}

TEST(FrameDeathTest, RefusesAPayloadThatNoIpv4PacketCarries) {
  const std::vector<std::uint8_t> payload(kUdpPayloadMax + 1);
  std::array<std::uint8_t, kFrameHeaderSize> header;
  EXPECT_DEATH(BuildFrameHeader({}, payload, header), "check failed");
}

}  // namespace
}  // namespace ringdhcp
