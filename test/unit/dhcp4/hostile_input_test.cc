#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "server/base/prng.h"
#include "server/dhcp4/client_key.h"
#include "server/dhcp4/decode.h"
#include "test/unit/dhcp4/client_message.h"
#include "test/unit/dhcp4/reference_decoder.h"

namespace ringdhcp {
namespace {

// Recorded messages that are dropped, by their number in the file, and the label of the drop. They
// are LEASEQUERYs (type 10), invented types (0, 99, 106), messages whose cookie is missing or out
// of place, and one without options.
const std::map<std::size_t, std::string> kDroppedMessages = {
    {11, "unsupported_message"},  {12, "unsupported_message"},  {14, "unsupported_message"},
    {19, "unsupported_message"},  {23, "bad_cookie"},           {24, "unsupported_message"},
    {56, "bad_cookie"},           {689, "bad_cookie"},          {693, "no_message_type"},
    {694, "unsupported_message"}, {695, "unsupported_message"}, {702, "bad_cookie"},
    {703, "bad_cookie"},
};

// Every octet of every recorded message is changed; which of these it meets goes round.
constexpr std::uint8_t kFlips[] = {0xFF, 0x01, 0x80};

// All that a shard does with a payload before the engine sees it. Returns the drop, if any.
std::optional<DropReason> Receive(std::span<const std::uint8_t> payload, Message& message) {
  const auto peeked = PeekMessageType(payload);
  const auto drop = Decode(payload, message);
  if (!drop) {
    static_cast<void>(IdentifyClient(message));
    // The peek sees the options field alone, but what it sees must be what the decoder found.
    if (peeked) {
      EXPECT_EQ(*peeked, message.type);
    }
  }
  return drop;
}

TEST(HostileInputTest, RecordedMessagesDecodeAsTheReferenceSays) {
  GuardedPayload guarded;
  std::map<std::size_t, std::string> dropped;
  const auto messages = RecordedMessages();
  ASSERT_EQ(messages.size(), 707U);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto payload = guarded.Hold(messages[i]);
    EXPECT_EQ(CompareWithReference(payload), "") << "message " << i + 1;
    Message message;
    const auto drop = Receive(payload, message);
    if (drop) dropped[i + 1] = DropReasonLabel(*drop);
  }
  EXPECT_EQ(dropped, kDroppedMessages);
}

TEST(HostileInputTest, EveryTruncationOfARecordedMessageIsHarmless) {
  GuardedPayload guarded;
  Message message;
  for (const Octets& recorded : RecordedMessages()) {
    for (std::size_t size = 0; size < recorded.size(); ++size) {
      const auto drop = Receive(guarded.Hold(std::span(recorded).first(size)), message);
      ASSERT_TRUE(size >= kOptionsAt || drop == DropReason::kTooShort);
    }
  }
}

TEST(HostileInputTest, EveryByteFlipOfARecordedMessageIsHarmless) {
  GuardedPayload guarded;
  Message message;
  std::size_t turn = 0;
  for (const Octets& recorded : RecordedMessages()) {
    const auto payload = guarded.Hold(recorded);
    for (std::uint8_t& octet : payload) {
      const std::uint8_t flip = kFlips[turn++ % std::size(kFlips)];
      octet ^= flip;
      Receive(payload, message);
      octet ^= flip;
    }
  }
  EXPECT_GT(turn, 200'000U);
}

// The reference is slow: it judges a sample of cut and changed messages.
TEST(HostileInputTest, DamagedMessagesDecodeAsTheReferenceSays) {
  constexpr std::uint64_t kSeed = 20131;
  Prng prng(kSeed);
  GuardedPayload guarded;
  const auto messages = RecordedMessages();
  for (int round = 0; round < 20'000; ++round) {
    Octets damaged = messages[prng.Below(messages.size())];
    if (prng.Below(4) == 0) damaged.resize(prng.Below(damaged.size()));
    for (std::uint64_t changes = prng.Below(4); changes > 0 && !damaged.empty(); --changes) {
      damaged[prng.Below(damaged.size())] = static_cast<std::uint8_t>(prng.Next());
    }
    ASSERT_EQ(CompareWithReference(guarded.Hold(damaged)), "")
        << "seed " << kSeed << " round " << round;
  }
}

TEST(HostileInputTest, RandomBytesAreHarmless) {
  constexpr std::uint64_t kSeed = 951;
  Prng prng(kSeed);
  GuardedPayload guarded;
  for (int round = 0; round < 20'000; ++round) {
    Octets noise(prng.Below(600));
    for (std::uint8_t& octet : noise) octet = static_cast<std::uint8_t>(prng.Next());
    ASSERT_EQ(CompareWithReference(guarded.Hold(noise)), "")
        << "seed " << kSeed << " round " << round;
  }
}

// Random options behind a good header: what noise almost never gets to.
TEST(HostileInputTest, RandomOptionsBehindAGoodHeaderDecodeAsTheReferenceSays) {
  constexpr std::uint64_t kSeed = 3396;
  constexpr std::uint8_t kCodes[] = {0, 12, 52, 52, 53, 55, 61, 82, 82, 255};
  Prng prng(kSeed);
  GuardedPayload guarded;
  int decoded = 0;
  const auto fill = [&](std::span<std::uint8_t> field) {
    std::size_t at = 0;
    while (at + 2 < field.size()) {
      field[at++] = prng.Below(16) == 0 ? static_cast<std::uint8_t>(prng.Next())
                                        : kCodes[prng.Below(std::size(kCodes))];
      field[at++] = static_cast<std::uint8_t>(prng.Below(prng.Below(32) == 0 ? 256 : 5));
      const std::size_t value = std::min<std::size_t>(field[at - 1], field.size() - at);
      for (std::size_t i = 0; i < value; ++i) {
        field[at++] = static_cast<std::uint8_t>(prng.Below(5));
      }
    }
  };
  for (int round = 0; round < 8'000; ++round) {
    ClientMessage builder;
    if (prng.Below(2) == 0) builder.Option(53, "01");
    if (prng.Below(2) == 0) builder.Option(52, "03");
    Octets payload = builder.WithoutEnd().WithoutPadding().Build();
    const std::size_t options_at = payload.size();
    payload.resize(payload.size() + prng.Below(400));
    fill(std::span(payload).subspan(options_at));
    fill(std::span(payload).subspan(kSnameAt, 64));
    fill(std::span(payload).subspan(kFileAt, 128));
    const auto held = guarded.Hold(payload);
    ASSERT_EQ(CompareWithReference(held), "") << "seed " << kSeed << " round " << round;
    decoded += ReferenceDecode(held).drop ? 0 : 1;
  }
  EXPECT_GT(decoded, 800) << "the generator hardly makes messages that decode";
}

}  // namespace
}  // namespace ringdhcp
