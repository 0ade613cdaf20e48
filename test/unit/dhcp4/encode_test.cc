#include "server/dhcp4/encode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/dhcp4/decode.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

using CodeList = std::vector<int>;

constexpr std::size_t kDefaultPayload = 548;  // 576 octets of IP datagram (RFC 2131 section 2)

struct WireOption {
  int code;
  Octets value;
  bool operator==(const WireOption&) const = default;
};

// The options of one field up to the end option, which must be there, followed by zeros only.
std::vector<WireOption> FieldOptions(std::span<const std::uint8_t> field) {
  std::vector<WireOption> options;
  std::size_t at = 0;
  while (at + 1 < field.size() && field[at] != 255) {
    EXPECT_NE(field[at], 0) << "pad before the end option: old clients stumble over it";
    const std::size_t length = field[at + 1];
    if (at + 2 + length > field.size()) break;
    options.push_back({field[at], ToOctets(field.subspan(at + 2, length))});
    at += 2 + length;
  }
  EXPECT_TRUE(at < field.size() && field[at] == 255) << "no end option";
  EXPECT_TRUE(std::all_of(field.begin() + static_cast<std::ptrdiff_t>(at) + 1, field.end(),
                          [](std::uint8_t o) { return o == 0; }));
  return options;
}

// A reply under construction that owns its values, and its encoding.
class EncodeTest : public testing::Test {
 protected:
  EncodeTest() {
    reply_.header.op = kBootReply;
    values_.reserve(Reply::kOptionsMax);
  }

  void Add(int code, Octets value, bool required = false) {
    values_.push_back(std::move(value));
    reply_.Add(OptionCode{static_cast<std::uint8_t>(code)}, values_.back(), required);
  }
  // 53, 54 and 51, which every ACK must have: 15 octets of the options field.
  void AddBasics() {
    Add(53, FromHex("05"), true);
    Add(54, FromHex("c0000201"), true);
    Add(51, FromHex("00000258"), true);
  }
  void SetRelayAgentInformation(Octets value) {
    relay_agent_information_ = std::move(value);
    reply_.relay_agent_information = relay_agent_information_;
  }

  Octets Encoded(std::size_t payload_max = kDefaultPayload) {
    std::span<std::uint8_t> out = guarded_.Hold(Octets(payload_max, 0xEE));
    result_ = Encode(reply_, payload_max, out);
    EXPECT_LE(result_.size, payload_max);
    return ToOctets(out.first(result_.size));
  }
  std::vector<WireOption> Options(const Octets& message) {
    return FieldOptions(std::span(message).subspan(kOptionsAt));
  }
  std::vector<WireOption> File(const Octets& message) {
    return FieldOptions(std::span(message).subspan(kFileAt, 128));
  }
  std::vector<WireOption> Sname(const Octets& message) {
    return FieldOptions(std::span(message).subspan(kSnameAt, 64));
  }
  CodeList Codes(const std::vector<WireOption>& options) {
    CodeList codes;
    for (const WireOption& option : options) codes.push_back(option.code);
    return codes;
  }

  Reply reply_;
  EncodeResult result_;

 private:
  std::vector<Octets> values_;
  Octets relay_agent_information_;
  GuardedPayload guarded_;
};

TEST_F(EncodeTest, WritesEveryFixedField) {
  Header& header = reply_.header;
  header.htype = 32;
  header.hlen = 16;
  header.hops = 3;
  header.xid = 0xA1B2C3D4;
  header.secs = 0x0102;
  header.flags = 0x8000;
  header.ciaddr = Address("192.0.2.10");
  header.yiaddr = Address("192.0.2.11");
  header.siaddr = Address("192.0.2.12");
  header.giaddr = Address("198.51.100.1");
  std::fill(header.chaddr.begin(), header.chaddr.end(), std::uint8_t{0xAB});
  AddBasics();
  Octets expected = FromHex(
      "02 20 10 03 a1b2c3d4 0102 8000 c000020a c000020b c000020c c6336401"
      "abababababababababababababababab");
  expected.resize(kCookieAt);
  const Octets tail = FromHex("63825363 350105 3604c0000201 330400000258 ff");
  expected.insert(expected.end(), tail.begin(), tail.end());
  expected.resize(300);
  EXPECT_EQ(Encoded(), expected);
}

// RFC 1542 section 2.1; some relays throw away what is shorter.
TEST_F(EncodeTest, PadsToThreeHundredOctetsAfterTheEndOption) {
  Add(53, FromHex("06"), true);
  const Octets message = Encoded();
  EXPECT_EQ(message.size(), 300U);
  EXPECT_EQ(Codes(Options(message)), (CodeList{53}));
}

TEST_F(EncodeTest, DoesNotPadALongerReply) {
  AddBasics();
  Add(12, Octets(100, 'a'));
  EXPECT_EQ(Encoded().size(), kOptionsAt + 15 + 102 + 1);
}

// RFC 2132 section 9.8: the order in which the client asked; and old clients want 53 first.
TEST_F(EncodeTest, KeepsTheOrderGiven) {
  AddBasics();
  for (const int code : {15, 6, 3, 1, 42}) Add(code, FromHex("01020304"));
  EXPECT_EQ(Codes(Options(Encoded())), (CodeList{53, 54, 51, 15, 6, 3, 1, 42}));
}

TEST_F(EncodeTest, WritesAnEmptyValueAsAnOptionOfLengthZero) {
  AddBasics();
  Add(80, {});
  EXPECT_EQ(Options(Encoded()).back(), (WireOption{80, {}}));
}

TEST_F(EncodeTest, LeavesFileAndSnameZeroWithoutOverload) {
  AddBasics();
  const Octets message = Encoded();
  EXPECT_TRUE(std::all_of(message.begin() + kSnameAt, message.begin() + kCookieAt,
                          [](std::uint8_t o) { return o == 0; }));
}

// RFC 3396 section 5.
TEST_F(EncodeTest, SplitsValuesOfMoreThanTwoHundredFiftyFiveOctets) {
  for (const std::size_t size : {255U, 256U, 510U, 511U, 600U}) {
    reply_.Clear();
    AddBasics();
    Octets value(size);
    for (std::size_t i = 0; i < size; ++i) value[i] = static_cast<std::uint8_t>(i * 7);
    Add(121, value);
    const auto options = Options(Encoded(1472));
    ASSERT_EQ(options.size(), 3 + (size + 254) / 255) << size;
    Octets joined;
    for (std::size_t i = 3; i < options.size(); ++i) {
      EXPECT_EQ(options[i].code, 121);
      joined.insert(joined.end(), options[i].value.begin(), options[i].value.end());
    }
    EXPECT_EQ(joined, value);
    EXPECT_EQ(result_.options_dropped, 0U);
  }
}

// RFC 2132 section 9.3 and RFC 3396 section 5: options first, then file, then sname.
TEST_F(EncodeTest, OverflowsIntoTheFileField) {
  AddBasics();
  Add(12, Octets(250, 'a'));
  Add(15, Octets(100, 'b'));
  const Octets message = Encoded();
  EXPECT_EQ(Codes(Options(message)), (CodeList{53, 54, 51, 12, 52}));
  EXPECT_EQ(Options(message).back().value, FromHex("01"));
  EXPECT_EQ(File(message), (std::vector<WireOption>{{15, Octets(100, 'b')}}));
  EXPECT_EQ(result_.options_dropped, 0U);
}

TEST_F(EncodeTest, OverflowsIntoTheSnameFieldNext) {
  AddBasics();
  Add(12, Octets(250, 'a'));
  Add(15, Octets(100, 'b'));
  Add(17, Octets(61, 'c'));
  const Octets message = Encoded();
  EXPECT_EQ(Options(message).back(), (WireOption{52, FromHex("03")}));
  EXPECT_EQ(File(message), (std::vector<WireOption>{{15, Octets(100, 'b')}}));
  EXPECT_EQ(Sname(message), (std::vector<WireOption>{{17, Octets(61, 'c')}}));
}

TEST_F(EncodeTest, AFieldIsFilledUpToItsEndOption) {
  AddBasics();
  Add(12, Octets(250, 'a'));
  Add(15, Octets(125, 'b'));  // 128 octets less code, length and end
  const Octets message = Encoded();
  EXPECT_EQ(Options(message).back(), (WireOption{52, FromHex("01")}));
  EXPECT_EQ(File(message), (std::vector<WireOption>{{15, Octets(125, 'b')}}));
}

TEST_F(EncodeTest, TheOptionsFieldIsFilledToTheLastOctetBeforeOverload) {
  AddBasics();
  const std::size_t room = kDefaultPayload - kOptionsAt - 15 - 1;
  Add(12, Octets(100, 'a'));
  Add(15, Octets(room - 102 - 2, 'b'));
  EXPECT_EQ(Encoded().size(), kDefaultPayload);
  EXPECT_EQ(Codes(Options(Encoded())), (CodeList{53, 54, 51, 12, 15}));
}

TEST_F(EncodeTest, SpreadsALongValueOverTheFieldsInTheOrderOfJoining) {
  AddBasics();
  Octets value(450);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<std::uint8_t>(i);
  Add(43, value);
  const Octets message = Encoded();
  Octets joined;
  for (const auto& field : {Options(message), File(message), Sname(message)}) {
    for (const WireOption& option : field) {
      if (option.code == 43) joined.insert(joined.end(), option.value.begin(), option.value.end());
    }
  }
  EXPECT_EQ(joined, value);
}

// Many clients take the first piece of a short option for all of it.
TEST_F(EncodeTest, LeavesAShortOptionOutRatherThanCutIt) {
  AddBasics();
  Add(12, Octets(200, 'a'));
  Add(15, Octets(130, 'b'));  // more than any field has left, less than all have together
  Add(1, FromHex("ffffff00"));
  const Octets message = Encoded();
  EXPECT_EQ(Codes(Options(message)), (CodeList{53, 54, 51, 12, 1}));
  EXPECT_EQ(result_.options_dropped, 1U);
}

TEST_F(EncodeTest, CutsARequiredOptionRatherThanSendNothing) {
  AddBasics();
  Add(182, Octets(200, 'a'), true);
  Add(61, Octets(130, 'b'), true);
  const Octets message = Encoded();
  EXPECT_GT(message.size(), 0U);
  std::size_t size = 0;
  for (const auto& field : {Options(message), File(message)}) {
    for (const WireOption& option : field) size += option.code == 61 ? option.value.size() : 0;
  }
  EXPECT_EQ(size, 130U);
}

TEST_F(EncodeTest, LeavesOutTheLastOptionsFirst) {
  AddBasics();
  for (int code = 200; code < 210; ++code) Add(code, Octets(60, 'x'));
  const Octets message = Encoded();
  CodeList kept;
  for (const auto& field : {Options(message), File(message), Sname(message)}) {
    for (const WireOption& option : field) {
      if (option.code >= 200) kept.push_back(option.code);
    }
  }
  EXPECT_EQ(kept, (CodeList{200, 201, 202, 203, 204, 205, 206}));
  EXPECT_EQ(result_.options_dropped, 3U);
}

TEST_F(EncodeTest, RequiredOptionsAtTheEndAreKept) {
  AddBasics();
  for (int code = 200; code < 210; ++code) Add(code, Octets(60, 'x'));
  Add(61, Octets(50, 'i'), true);
  const Octets message = Encoded();
  Message decoded;
  Octets request = message;
  request[kOpAt] = kBootRequest;  // the decoder is a server's
  request[kOptionsAt + 2] = 1;
  ASSERT_FALSE(Decode(request, decoded).has_value());
  EXPECT_TRUE(decoded.options.Has(OptionCode::kClientIdentifier));
  EXPECT_EQ(result_.options_dropped, 4U);
}

TEST_F(EncodeTest, OneHugeOptionDoesNotPushTheOthersOut) {
  AddBasics();
  Add(43, Octets(900, 'x'));
  Add(1, FromHex("ffffff00"));
  Add(3, FromHex("c0000201"));
  EXPECT_EQ(Codes(Options(Encoded())), (CodeList{53, 54, 51, 1, 3}));
  EXPECT_EQ(result_.options_dropped, 1U);
}

TEST_F(EncodeTest, SendsNothingWhenTheRequiredOptionsDoNotFit) {
  AddBasics();
  Add(61, Octets(520, 'i'), true);
  EXPECT_TRUE(Encoded().empty());
  EXPECT_EQ(result_.size, 0U);
}

TEST_F(EncodeTest, NeedsRoomForHeaderCookieAndEnd) {
  EXPECT_TRUE(Encoded(0).empty());
  EXPECT_TRUE(Encoded(240).empty());
  EXPECT_EQ(Encoded(241).size(), 241U);
  Add(53, FromHex("05"), true);
  EXPECT_TRUE(Encoded(243).empty());
  EXPECT_EQ(Encoded(244).size(), 244U) << "padding may not exceed the space";
}

TEST_F(EncodeTest, TheSmallerOfBufferAndPayloadCounts) {
  AddBasics();
  Octets out(260, 0xEE);
  EXPECT_EQ(Encode(reply_, 548, out).size, 260U);
  Octets large(600, 0xEE);
  const EncodeResult result = Encode(reply_, 280, large);
  EXPECT_EQ(result.size, 280U);
  EXPECT_EQ(large[280], 0xEE);
}

// RFC 3046 section 2.2: the last option, octet for octet.
TEST_F(EncodeTest, Rfc3046EchoesOption82Last) {
  const Octets agent = FromHex("0104000000000206020000000001fe0100");
  SetRelayAgentInformation(agent);
  AddBasics();
  Add(61, FromHex("0102"), true);
  const auto options = Options(Encoded());
  EXPECT_EQ(Codes(options), (CodeList{53, 54, 51, 61, 82}));
  EXPECT_EQ(options.back().value, agent);
}

TEST_F(EncodeTest, Rfc3046EchoesAnEmptyOption82) {
  SetRelayAgentInformation({});
  AddBasics();
  EXPECT_EQ(Options(Encoded()).back(), (WireOption{82, {}}));
}

TEST_F(EncodeTest, Rfc3046KeepsOption82OutOfFileAndSname) {
  SetRelayAgentInformation(Octets(60, 'r'));
  AddBasics();
  Add(12, Octets(200, 'a'));
  Add(15, Octets(100, 'b'));
  Add(17, Octets(60, 'c'));
  const Octets message = Encoded();
  const auto options = Options(message);
  EXPECT_EQ(options.back(), (WireOption{82, Octets(60, 'r')}));
  EXPECT_EQ(options[options.size() - 2], (WireOption{52, FromHex("03")}));
  EXPECT_EQ(Codes(File(message)), (CodeList{15}));
  EXPECT_EQ(Codes(Sname(message)), (CodeList{17}));
}

TEST_F(EncodeTest, Rfc3046Option82GoesBeforeOptionalOptions) {
  SetRelayAgentInformation(Octets(250, 'r'));
  AddBasics();
  Add(12, Octets(200, 'a'));
  Add(1, FromHex("ffffff00"));
  const auto options = Options(Encoded());
  EXPECT_EQ(Codes(options), (CodeList{53, 54, 51, 1, 82}));
  EXPECT_EQ(result_.options_dropped, 1U);
}

TEST_F(EncodeTest, Rfc3046LeavesOption82OutWhenItDoesNotFit) {
  SetRelayAgentInformation(Octets(300, 'r'));
  AddBasics();
  Add(1, FromHex("ffffff00"));
  EXPECT_EQ(Codes(Options(Encoded())), (CodeList{53, 54, 51, 1}));
  EXPECT_EQ(result_.options_dropped, 1U);
}

// Option 82 takes no room from 53, 54 and 51, which never move to the file field.
TEST_F(EncodeTest, TheBasicsNeverLeaveTheOptionsField) {
  for (std::size_t size = 270; size < 300; ++size) {
    reply_.Clear();
    SetRelayAgentInformation(Octets(size, 'r'));
    AddBasics();
    const CodeList codes = Codes(Options(Encoded()));
    ASSERT_GE(codes.size(), 3U) << size;
    EXPECT_EQ(CodeList(codes.begin(), codes.begin() + 3), (CodeList{53, 54, 51})) << size;
    EXPECT_EQ(result_.options_dropped, size > 288 ? 1U : 0U) << size;
  }
}

TEST_F(EncodeTest, Rfc3396SplitsALongOption82InPlace) {
  SetRelayAgentInformation(Octets(300, 'r'));
  AddBasics();
  const auto options = Options(Encoded(1472));
  EXPECT_EQ(Codes(options), (CodeList{53, 54, 51, 82, 82}));
  EXPECT_EQ(options[3].value.size(), 255U);
  EXPECT_EQ(options[4].value.size(), 45U);
}

TEST_F(EncodeTest, TakesAsManyOptionsAsAReplyHolds) {
  for (std::size_t i = 0; i < Reply::kOptionsMax; ++i) {
    Add(static_cast<int>(100 + i), FromHex("00"), true);
  }
  EXPECT_EQ(Options(Encoded()).size(), Reply::kOptionsMax);
}

}  // namespace
}  // namespace ringdhcp
