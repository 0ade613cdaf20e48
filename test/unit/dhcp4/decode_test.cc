#include "server/dhcp4/decode.h"

#include <gtest/gtest.h>

#include <string>

#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

// The metric label of the drop, or "decoded".
std::string Outcome(const Octets& payload) {
  GuardedPayload guarded;
  Message message;
  const auto reason = Decode(guarded.Hold(payload), message);
  return reason ? std::string(DropReasonLabel(*reason)) : "decoded";
}

Message MustDecode(const Octets& payload) {
  GuardedPayload guarded;
  Message message;
  const auto reason = Decode(guarded.Hold(payload), message);
  EXPECT_FALSE(reason.has_value()) << DropReasonLabel(*reason);
  return message;
}

std::optional<Octets> Value(const Message& message, int code) {
  const auto value = message.options.Find(OptionCode{static_cast<std::uint8_t>(code)});
  if (!value) return std::nullopt;
  return ToOctets(*value);
}

ClientMessage Discover() { return ClientMessage(MessageType::kDiscover); }

TEST(DecodeTest, ReadsEveryFixedField) {
  const Message message = MustDecode(ClientMessage(MessageType::kRequest)
                                         .Set(kHtypeAt, "20")
                                         .Set(kHlenAt, "10")
                                         .Set(kHopsAt, "03")
                                         .Set(kXidAt, "a1b2c3d4")
                                         .Set(kSecsAt, "ba20")
                                         .Set(kFlagsAt, "8001")
                                         .Set(kCiaddrAt, "c000020a")
                                         .Set(kYiaddrAt, "c000020b")
                                         .Set(kSiaddrAt, "c000020c")
                                         .Set(kGiaddrAt, "c6336401")
                                         .Set(kChaddrAt, "00112233445566778899aabbccddeeff")
                                         .Build());
  const Header& header = message.header;
  EXPECT_EQ(header.op, kBootRequest);
  EXPECT_EQ(header.htype, 32);
  EXPECT_EQ(header.hlen, 16);
  EXPECT_EQ(header.hops, 3);
  EXPECT_EQ(header.xid, 0xA1B2C3D4U);
  EXPECT_EQ(header.secs, 47648);
  EXPECT_EQ(header.flags, 0x8001);
  EXPECT_EQ(header.ciaddr, Address("192.0.2.10"));
  EXPECT_EQ(header.yiaddr, Address("192.0.2.11"));
  EXPECT_EQ(header.siaddr, Address("192.0.2.12"));
  EXPECT_EQ(header.giaddr, Address("198.51.100.1"));
  EXPECT_EQ(ToOctets(header.HardwareAddress()), FromHex("00112233445566778899aabbccddeeff"));
  EXPECT_EQ(message.type, MessageType::kRequest);
}

struct OutcomeCase {
  const char* name;
  Octets payload;
  const char* outcome;
};

class DecodeOutcomeTest : public testing::TestWithParam<OutcomeCase> {};

TEST_P(DecodeOutcomeTest, IsAsTabled) {
  EXPECT_EQ(Outcome(GetParam().payload), GetParam().outcome);
}

Octets Cut(Octets payload, std::size_t size) {
  payload.resize(size);
  return payload;
}

// RFC 951, RFC 2131 section 2, RFC 1542 section 4.1.1.
INSTANTIATE_TEST_SUITE_P(
    FixedFields, DecodeOutcomeTest,
    testing::Values(
        OutcomeCase{"Empty", {}, "too_short"},
        OutcomeCase{"BootpWithoutAnyOptionArea", Cut(Discover().Build(), 236), "too_short"},
        OutcomeCase{"CookieCut", Cut(Discover().Build(), 239), "too_short"},
        OutcomeCase{"CookieOnly", Cut(Discover().Build(), 240), "no_message_type"},
        OutcomeCase{"LargestDatagram", Cut(Discover().Build(), 2048), "decoded"},
        OutcomeCase{"LargerThanAReceiveBuffer", Cut(Discover().Build(), 2049), "truncated"},
        OutcomeCase{"OpZero", Discover().Set(kOpAt, "00").Build(), "not_request"},
        OutcomeCase{"OpReply", Discover().Set(kOpAt, "02").Build(), "not_request"},
        OutcomeCase{"HlenZero", Discover().Set(kHlenAt, "00").Build(), "decoded"},
        OutcomeCase{"HlenSixteen", Discover().Set(kHlenAt, "10").Build(), "decoded"},
        OutcomeCase{"HlenSeventeen", Discover().Set(kHlenAt, "11").Build(), "bad_hardware_length"},
        OutcomeCase{"HlenMaximal", Discover().Set(kHlenAt, "ff").Build(), "bad_hardware_length"},
        OutcomeCase{"HopsSixteen", Discover().Set(kHopsAt, "10").Build(), "decoded"},
        OutcomeCase{"HopsSeventeen", Discover().Set(kHopsAt, "11").Build(), "hop_limit"},
        OutcomeCase{"CookieZero", Discover().Set(kCookieAt, "00000000").Build(), "bad_cookie"},
        OutcomeCase{"CookieShifted", Discover().Set(kCookieAt, "00638253").Build(), "bad_cookie"},
        OutcomeCase{"GiaddrHost", Discover().Set(kGiaddrAt, "c6336401").Build(), "decoded"},
        OutcomeCase{"GiaddrLoopback", Discover().Set(kGiaddrAt, "7f000001").Build(), "bad_giaddr"},
        OutcomeCase{"GiaddrMulticast", Discover().Set(kGiaddrAt, "e0000001").Build(), "bad_giaddr"},
        OutcomeCase{"GiaddrBroadcast", Discover().Set(kGiaddrAt, "ffffffff").Build(), "bad_giaddr"},
        OutcomeCase{"GiaddrNetworkZero", Discover().Set(kGiaddrAt, "00000001").Build(),
                    "bad_giaddr"},
        OutcomeCase{"CiaddrBroadcast", Discover().Set(kCiaddrAt, "ffffffff").Build(), "decoded"},
        OutcomeCase{"GroupHardwareAddress", Discover().Set(kChaddrAt, "ff010203ff04").Build(),
                    "decoded"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// RFC 2132 section 9.6 and the later types of RFC 3203, 4388, 6926 and 7724.
INSTANTIATE_TEST_SUITE_P(
    MessageTypes, DecodeOutcomeTest,
    testing::Values(
        OutcomeCase{"Zero", ClientMessage().Option(53, "00").Build(), "unsupported_message"},
        OutcomeCase{"Discover", ClientMessage().Option(53, "01").Build(), "decoded"},
        OutcomeCase{"Offer", ClientMessage().Option(53, "02").Build(), "server_message"},
        OutcomeCase{"Request", ClientMessage().Option(53, "03").Build(), "decoded"},
        OutcomeCase{"Decline", ClientMessage().Option(53, "04").Build(), "decoded"},
        OutcomeCase{"Ack", ClientMessage().Option(53, "05").Build(), "server_message"},
        OutcomeCase{"Nak", ClientMessage().Option(53, "06").Build(), "server_message"},
        OutcomeCase{"Release", ClientMessage().Option(53, "07").Build(), "decoded"},
        OutcomeCase{"Inform", ClientMessage().Option(53, "08").Build(), "decoded"},
        OutcomeCase{"ForceRenew", ClientMessage().Option(53, "09").Build(), "server_message"},
        OutcomeCase{"LeaseQuery", ClientMessage().Option(53, "0a").Build(), "unsupported_message"},
        OutcomeCase{"LeaseUnassigned", ClientMessage().Option(53, "0b").Build(), "server_message"},
        OutcomeCase{"LeaseUnknown", ClientMessage().Option(53, "0c").Build(), "server_message"},
        OutcomeCase{"LeaseActive", ClientMessage().Option(53, "0d").Build(), "server_message"},
        OutcomeCase{"Unassigned", ClientMessage().Option(53, "ff").Build(), "unsupported_message"},
        OutcomeCase{"Absent", ClientMessage().Option(12, "61").Build(), "no_message_type"},
        OutcomeCase{"Empty", ClientMessage().Option(53, "").Build(), "no_message_type"},
        OutcomeCase{"TwoOctets", ClientMessage().Option(53, "0101").Build(), "no_message_type"},
        OutcomeCase{"Twice", Discover().Option(53, "03").Build(), "no_message_type"},
        OutcomeCase{"BehindTheEnd", ClientMessage().Raw("ff 350101").Build(), "no_message_type"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// An option that runs past the end spoils the message only while option 53 is missing.
INSTANTIATE_TEST_SUITE_P(
    CutOptions, DecodeOutcomeTest,
    testing::Values(
        OutcomeCase{"LoneCodeAfterType", Discover().Raw("0c").WithoutEnd().WithoutPadding().Build(),
                    "decoded"},
        OutcomeCase{"ValueMissingAfterType",
                    Discover().Raw("0c05").WithoutEnd().WithoutPadding().Build(), "decoded"},
        OutcomeCase{"ValueCutAfterType",
                    Discover().Raw("0c0561").WithoutEnd().WithoutPadding().Build(), "decoded"},
        OutcomeCase{"LengthBeyondThePadding", Discover().Raw("0cff").Build(), "decoded"},
        OutcomeCase{"EndMissing", Discover().WithoutEnd().WithoutPadding().Build(), "decoded"},
        OutcomeCase{"LoneCodeFirst",
                    ClientMessage().Raw("0c").WithoutEnd().WithoutPadding().Build(),
                    "malformed_options"},
        OutcomeCase{"TypeItselfCut",
                    ClientMessage().Raw("3501").WithoutEnd().WithoutPadding().Build(),
                    "malformed_options"},
        OutcomeCase{"SwallowsTheType", ClientMessage().Raw("0cff").Option(53, "01").Build(),
                    "malformed_options"},
        OutcomeCase{"CutFileFieldBeforeType",
                    ClientMessage().Option(52, "01").Set(kFileAt, "0cff").Build(),
                    "malformed_options"},
        OutcomeCase{"CutFileFieldAfterType",
                    Discover().Option(52, "01").Set(kFileAt, "0cff").Build(), "decoded"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(DecodeTest, KeepsTheOptionsBeforeTheCutOne) {
  const Message message =
      MustDecode(Discover().Option(12, "6162").Raw("3c05aa").WithoutEnd().WithoutPadding().Build());
  EXPECT_EQ(Value(message, 12), FromHex("6162"));
  EXPECT_FALSE(message.options.Has(OptionCode::kVendorClass));
}

TEST(DecodeTest, Rfc2132Section3SkipsPadAndStopsAtEnd) {
  const Message message = MustDecode(ClientMessage()
                                         .Raw("0000")
                                         .Option(53, "01")
                                         .Raw("00")
                                         .Option(12, "61")
                                         .Raw("ff")
                                         .Option(15, "62")
                                         .Build());
  EXPECT_EQ(Value(message, 12), FromHex("61"));
  EXPECT_FALSE(message.options.Has(OptionCode::kDomainName));
  EXPECT_FALSE(message.options.Has(OptionCode::kPad));
  EXPECT_FALSE(message.options.Has(OptionCode::kEnd));
}

TEST(DecodeTest, AnEmptyOptionIsPresent) {
  const Message message = MustDecode(Discover().Option(12, "").Option(61, "").Build());
  EXPECT_EQ(Value(message, 12), Octets{});
  EXPECT_EQ(Value(message, 61), Octets{});
  EXPECT_EQ(Value(message, 60), std::nullopt);
}

TEST(DecodeTest, Rfc3396Section5JoinsRepeatedCodesInOrderOfAppearance) {
  const Message message = MustDecode(Discover()
                                         .Option(121, "0102")
                                         .Option(12, "61")
                                         .Option(121, "03")
                                         .Option(12, "62")
                                         .Option(121, "")
                                         .Option(121, "0405")
                                         .Build());
  EXPECT_EQ(Value(message, 121), FromHex("0102030405"));
  EXPECT_EQ(Value(message, 12), FromHex("6162"));
}

TEST(DecodeTest, Rfc3396Section5JoinsAcrossFieldsInTheOrderOptionsFileSname) {
  const Message message = MustDecode(Discover()
                                         .Option(121, "01")
                                         .Option(52, "03")
                                         .Option(121, "02")
                                         .Set(kFileAt, "79020304 ff")
                                         .Set(kSnameAt, "790105 0c0161 ff")
                                         .Build());
  EXPECT_EQ(Value(message, 121), FromHex("0102030405"));
  EXPECT_EQ(Value(message, 12), FromHex("61"));
}

TEST(DecodeTest, JoinsMoreThanTwoHundredFiftyFiveOctets) {
  const Octets first(255, 0xAA), second(255, 0xBB), third(90, 0xCC);
  const Message message =
      MustDecode(Discover().Option(82, first).Option(82, second).Option(82, third).Build());
  const auto joined = Value(message, 82);
  ASSERT_TRUE(joined.has_value());
  ASSERT_EQ(joined->size(), 600U);
  EXPECT_EQ((*joined)[254], 0xAA);
  EXPECT_EQ((*joined)[255], 0xBB);
  EXPECT_EQ((*joined)[599], 0xCC);
}

TEST(DecodeTest, JoinsAsManyPiecesAsADatagramHolds) {
  ClientMessage builder = Discover();
  for (int i = 0; i < 300; ++i) builder.Option(82, "0100");
  const Message message = MustDecode(builder.Build());
  EXPECT_EQ(Value(message, 82)->size(), 600U);
}

struct OverloadCase {
  const char* name;
  const char* option_52;  // the whole option in hex, or more than one
  bool file;
  bool sname;
};

class OverloadTest : public testing::TestWithParam<OverloadCase> {};

// RFC 2132 section 9.3: 1 the file field, 2 the sname field, 3 both.
TEST_P(OverloadTest, ReadsTheFieldsThatOption52Names) {
  const Message message = MustDecode(Discover()
                                         .Raw(GetParam().option_52)
                                         .Set(kFileAt, "0f0166 ff 11017a")
                                         .Set(kSnameAt, "3c0173 ff 11017a")
                                         .Build());
  EXPECT_EQ(message.options.Has(OptionCode::kDomainName), GetParam().file);
  EXPECT_EQ(message.options.Has(OptionCode::kVendorClass), GetParam().sname);
  EXPECT_EQ(Value(message, 17), std::nullopt) << "nothing counts after the end of a field";
}

INSTANTIATE_TEST_SUITE_P(Rfc2132Section9p3, OverloadTest,
                         testing::Values(OverloadCase{"Absent", "", false, false},
                                         OverloadCase{"File", "340101", true, false},
                                         OverloadCase{"Sname", "340102", false, true},
                                         OverloadCase{"Both", "340103", true, true},
                                         OverloadCase{"Zero", "340100", false, false},
                                         OverloadCase{"Four", "340104", false, false},
                                         OverloadCase{"Large", "3401ff", false, false},
                                         OverloadCase{"Empty", "3400", false, false},
                                         OverloadCase{"TwoOctets", "34020103", false, false},
                                         OverloadCase{"Twice", "340101 340102", false, false},
                                         OverloadCase{"EmptyThenFile", "3400 340101", true, false}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(DecodeTest, OverloadInsideFileOrSnameMeansNothing) {
  const Message message = MustDecode(
      Discover().Option(52, "01").Set(kFileAt, "340103 ff").Set(kSnameAt, "3c0173 ff").Build());
  EXPECT_EQ(Value(message, 52), FromHex("01"));
  EXPECT_FALSE(message.options.Has(OptionCode::kVendorClass));
}

TEST(DecodeTest, FindsTheMessageTypeInTheFileField) {
  const Message message =
      MustDecode(ClientMessage().Option(52, "01").Set(kFileAt, "350103 ff").Build());
  EXPECT_EQ(message.type, MessageType::kRequest);
}

TEST(DecodeTest, FieldsThatAreNotOverloadedMayHoldAnything) {
  EXPECT_EQ(Outcome(Discover().Set(kFileAt, "0cff626f6f74").Set(kSnameAt, "35ff").Build()),
            "decoded");
}

TEST(DecodeTest, FillsTheWholeFileFieldWithoutAnEndOption) {
  ClientMessage builder = Discover();
  builder.Option(52, "01").Set(kFileAt, "0f7e");
  const Message message = MustDecode(builder.Build());
  EXPECT_EQ(Value(message, 15)->size(), 126U);
}

TEST(DecodeTest, NothingOfAnEarlierMessageRemains) {
  Message message;
  ASSERT_FALSE(Decode(Discover().Option(12, "6162").Option(61, "0102").Build(), message));
  ASSERT_FALSE(Decode(ClientMessage(MessageType::kInform).Option(12, "63").Build(), message));
  EXPECT_EQ(Value(message, 12), FromHex("63"));
  EXPECT_EQ(Value(message, 61), std::nullopt);
  EXPECT_EQ(message.type, MessageType::kInform);
}

TEST(OptionSetTest, NumbersMustHaveTheirExactSize) {
  const Message message = MustDecode(Discover()
                                         .Option(50, "c000020a")
                                         .Option(54, "c00002")
                                         .Option(51, "ffffffff")
                                         .Option(57, "05dc")
                                         .Option(52, "00")
                                         .Option(26, "0505dc")
                                         .Option(12, "")
                                         .Build());
  EXPECT_EQ(message.options.FindAddress(OptionCode::kRequestedAddress), Address("192.0.2.10"));
  EXPECT_EQ(message.options.FindAddress(OptionCode::kServerIdentifier), std::nullopt);
  EXPECT_EQ(message.options.FindAddress(OptionCode::kSubnetMask), std::nullopt);
  EXPECT_EQ(message.options.FindU32(OptionCode::kLeaseTime), 0xFFFFFFFFU);
  EXPECT_EQ(message.options.FindU32(OptionCode::kMaximumMessageSize), std::nullopt);
  EXPECT_EQ(message.options.FindU16(OptionCode::kMaximumMessageSize), 1500);
  EXPECT_EQ(message.options.FindU16(OptionCode::kInterfaceMtu), std::nullopt);
  EXPECT_EQ(message.options.FindU8(OptionCode::kOverload), 0);
  EXPECT_EQ(message.options.FindU8(OptionCode::kHostName), std::nullopt);
}

// RFC 3396 leaves no room for "the first one wins": two server identifiers are one of eight octets.
TEST(OptionSetTest, AnAddressThatIsThereTwiceIsNoAddress) {
  const Message message =
      MustDecode(Discover().Option(54, "c0000201").Option(54, "c0000202").Build());
  EXPECT_TRUE(message.options.Has(OptionCode::kServerIdentifier));
  EXPECT_EQ(message.options.FindAddress(OptionCode::kServerIdentifier), std::nullopt);
}

TEST(PeekMessageTypeTest, FindsOption53WhereverItStands) {
  EXPECT_EQ(PeekMessageType(Discover().Build()), MessageType::kDiscover);
  EXPECT_EQ(PeekMessageType(ClientMessage().Raw("00").Option(61, "0102").Option(53, "03").Build()),
            MessageType::kRequest);
}

TEST(PeekMessageTypeTest, SaysNothingOfWhatItCannotReach) {
  EXPECT_EQ(PeekMessageType({}), std::nullopt);
  EXPECT_EQ(PeekMessageType(Cut(Discover().Build(), 239)), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Build()), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Option(53, "").Build()), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Option(53, "09").Build()), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Raw("ff 350101").Build()), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Raw("0cff").Option(53, "01").Build()), std::nullopt);
  EXPECT_EQ(PeekMessageType(ClientMessage().Option(52, "01").Set(kFileAt, "350103").Build()),
            std::nullopt);
}

}  // namespace
}  // namespace ringdhcp
