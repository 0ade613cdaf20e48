#include <gtest/gtest.h>

#include <array>

#include "server/base/byte_reader.h"
#include "server/base/byte_writer.h"

namespace ringdhcp {
namespace {

TEST(ByteReaderTest, ReadsBigEndianFieldsInOrder) {
  const std::array<std::uint8_t, 9> octets{1, 2, 3, 4, 5, 6, 7, 8, 9};
  ByteReader reader(octets);
  EXPECT_EQ(reader.ReadU8(), 0x01);
  EXPECT_EQ(reader.ReadU16(), 0x0203);
  EXPECT_EQ(reader.ReadU32(), 0x04050607U);
  const auto rest = reader.ReadOctets(2);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0], 8);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_TRUE(reader.ok());
}

TEST(ByteReaderTest, AReadThatDoesNotFitPoisonsAllLaterOnes) {
  const std::array<std::uint8_t, 3> octets{1, 2, 3};
  ByteReader reader(octets);
  EXPECT_EQ(reader.ReadU32(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.ReadU8(), 0) << "three octets were there, but the error is sticky";
  EXPECT_TRUE(reader.ReadOctets(1).empty());
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(ByteReaderTest, ReadingNothingAtTheEndIsNoError) {
  ByteReader reader({});
  EXPECT_TRUE(reader.ReadOctets(0).empty());
  EXPECT_TRUE(reader.ok());
}

TEST(ByteWriterTest, WritesBigEndianFieldsInOrder) {
  std::array<std::uint8_t, 10> octets;
  octets.fill(0xEE);
  ByteWriter writer(octets);
  writer.WriteU8(1);
  writer.WriteU16(0x0203);
  writer.WriteU32(0x04050607);
  writer.WriteOctets(std::array<std::uint8_t, 1>{8});
  writer.WriteZeros(1);
  EXPECT_EQ(writer.size(), 9U);
  EXPECT_EQ(writer.remaining(), 1U);
  EXPECT_EQ(octets, (std::array<std::uint8_t, 10>{1, 2, 3, 4, 5, 6, 7, 8, 0, 0xEE}));
}

TEST(ByteWriterTest, AWriteThatDoesNotFitWritesNothingAndPoisonsAllLaterOnes) {
  std::array<std::uint8_t, 3> octets{};
  ByteWriter writer(octets);
  writer.WriteU32(0xFFFFFFFF);
  EXPECT_FALSE(writer.ok());
  writer.WriteU8(0xFF);
  writer.WriteZeros(1);
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_EQ(writer.remaining(), 0U);
  EXPECT_EQ(octets, (std::array<std::uint8_t, 3>{}));
}

}  // namespace
}  // namespace ringdhcp
