#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "server/base/prng.h"
#include "server/dhcp4/encode.h"
#include "test/unit/dhcp4/client_message.h"
#include "test/unit/dhcp4/reference_decoder.h"

namespace ringdhcp {
namespace {

constexpr std::uint64_t kSeed = 2132;
constexpr int kRounds = 5'000;

// A random reply with distinct codes; owns the values.
struct RandomReply {
  Reply reply;
  std::vector<Octets> values;
  std::vector<int> codes;
  Octets agent;
};

Octets RandomValue(Prng& prng) {
  constexpr std::uint64_t kBounds[] = {5, 5, 5, 17, 70, 258, 700};
  Octets value(prng.Below(kBounds[prng.Below(std::size(kBounds))]));
  for (std::uint8_t& octet : value) octet = static_cast<std::uint8_t>(prng.Next());
  return value;
}

void MakeReply(Prng& prng, RandomReply& made) {
  made = {};
  // A BOOTREQUEST of type DISCOVER, since the decoder takes what clients send.
  made.reply.header.op = kBootRequest;
  made.reply.header.hlen = 6;
  made.reply.header.xid = static_cast<std::uint32_t>(prng.Next());
  made.reply.header.yiaddr = Ipv4Address(static_cast<std::uint32_t>(prng.Next()));
  const std::size_t count = prng.Below(24);
  made.values.reserve(count + 1);
  made.values.push_back({1});
  made.codes.push_back(53);
  for (std::size_t i = 0; i < count; ++i) {
    const int code = static_cast<int>(1 + prng.Below(254));
    const bool taken = std::find(made.codes.begin(), made.codes.end(), code) != made.codes.end();
    if (taken || code == 52 || code == 82) continue;
    made.codes.push_back(code);
    made.values.push_back(RandomValue(prng));
  }
  for (std::size_t i = 0; i < made.codes.size(); ++i) {
    made.reply.Add(OptionCode{static_cast<std::uint8_t>(made.codes[i])}, made.values[i],
                   i == 0 || prng.Below(8) == 0);
  }
  if (prng.Below(2) == 0) {
    made.agent = RandomValue(prng);
    made.reply.relay_agent_information = made.agent;
  }
}

// How many options of the reply are missing; fails when one that is there has changed.
std::size_t CountMissing(const RandomReply& made, const ReferenceMessage& read) {
  std::size_t missing = 0;
  for (std::size_t i = 0; i < made.codes.size(); ++i) {
    const auto& value = read.options[static_cast<std::size_t>(made.codes[i])];
    if (value) {
      EXPECT_EQ(*value, made.values[i]) << "option " << made.codes[i];
    } else {
      ++missing;
      EXPECT_FALSE(made.reply.options()[i].required) << "option " << made.codes[i];
    }
  }
  if (made.reply.relay_agent_information) {
    const auto& agent = read.options[82];
    EXPECT_TRUE(!agent || *agent == made.agent);
    missing += agent ? 0 : 1;
  }
  return missing;
}

std::size_t CountPresent(const ReferenceMessage& read) {
  return static_cast<std::size_t>(
      std::count_if(read.options.begin(), read.options.end(),
                    [](const std::optional<Octets>& value) { return value.has_value(); }));
}

TEST(RoundTripTest, WhatIsEncodedIsDecodedUnchanged) {
  Prng prng(kSeed);
  RandomReply made;
  GuardedPayload out_guard, in_guard;
  int encoded = 0, overloaded = 0, shortened = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " round " + std::to_string(round));
    MakeReply(prng, made);
    const std::size_t payload_max = 241 + prng.Below(1472 - 241 + 1);
    const auto out = out_guard.Hold(Octets(payload_max, 0xEE));
    const EncodeResult result = Encode(made.reply, payload_max, out);
    if (result.size == 0) {
      ++refused;
      continue;
    }
    ASSERT_LE(result.size, payload_max);
    ASSERT_GE(result.size, std::min(payload_max, kReplyPayloadMin));
    const auto payload = in_guard.Hold(out.first(result.size));
    ASSERT_EQ(CompareWithReference(payload), "");
    const ReferenceMessage read = ReferenceDecode(payload);
    ASSERT_EQ(read.drop, std::nullopt);
    const std::size_t missing = CountMissing(made, read);
    ASSERT_EQ(missing, result.options_dropped);
    const std::size_t given =
        made.codes.size() + (made.reply.relay_agent_information ? 1 : 0) - missing;
    const bool overload = read.options[52].has_value();
    ASSERT_EQ(CountPresent(read), given + (overload ? 1 : 0)) << "an option nobody asked for";
    ASSERT_FALSE(testing::Test::HasFailure());
    ++encoded;
    overloaded += overload ? 1 : 0;
    shortened += missing > 0 ? 1 : 0;
  }
  // The generator must reach every branch often enough to mean something.
  EXPECT_GT(encoded, kRounds / 2);
  EXPECT_GT(overloaded, kRounds / 20);
  EXPECT_GT(shortened, kRounds / 20);
  EXPECT_GT(refused, kRounds / 100);
}

}  // namespace
}  // namespace ringdhcp
