#include "server/lease/reply_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

using Codes = std::vector<int>;

class ReplyBuilderTest : public EngineFixture {
 protected:
  ReplyBuilderTest() {
    config.subnets[0].options = {{3, {192, 0, 2, 1}}, {6, {192, 0, 2, 53}}, {15, {'a', '.', 'b'}}};
  }
  const Reply& Answer(ClientMessage message) {
    message_ = message;
    const Message& decoded = message_.Decoded();
    const Decision decision = Handle(decoded);
    EXPECT_EQ(decision.kind, Decision::Kind::kReply) << DropReasonLabel(decision.drop_reason);
    return builder_.Build(decoded, decision);
  }
  static Codes CodesOf(const Reply& reply) {
    Codes codes;
    for (const ReplyOption& option : reply.options())
      codes.push_back(static_cast<int>(option.code));
    return codes;
  }
  static std::vector<std::uint8_t> ValueOf(const Reply& reply, int code) {
    for (const ReplyOption& option : reply.options()) {
      if (static_cast<int>(option.code) == code) return {option.value.begin(), option.value.end()};
    }
    return {};
  }
  static ClientMessage Discovering(std::vector<std::uint8_t> requested) {
    return ClientMessage(MessageType::kDiscover, 1)
        .Option(OptionCode::kParameterRequestList, std::move(requested));
  }

  ClientMessage message_{MessageType::kDiscover, 1};
  ReplyBuilder builder_;
};

TEST_F(ReplyBuilderTest, OfferHeader) {  // RFC 2131 table 3
  const Reply& offer = Answer(
      ClientMessage(MessageType::kDiscover, 0xABCD).Flags(0x8000).Ciaddr(InN(77)).Siaddr(InN(78)));
  EXPECT_EQ(offer.header.op, kBootReply);
  EXPECT_EQ(offer.header.htype, 1);
  EXPECT_EQ(offer.header.hlen, 6);
  EXPECT_EQ(offer.header.hops, 0);
  EXPECT_EQ(offer.header.xid, 0x1234U);
  EXPECT_EQ(offer.header.secs, 0);
  EXPECT_EQ(offer.header.flags, 0x8000);
  EXPECT_EQ(offer.header.ciaddr, Ipv4Address());
  EXPECT_EQ(offer.header.yiaddr, InN(10));
  EXPECT_EQ(offer.header.siaddr, Ipv4Address());
  EXPECT_EQ(offer.header.giaddr, Ipv4Address());
  EXPECT_EQ(offer.header.chaddr[4], 0xAB);
}

TEST_F(ReplyBuilderTest, TypeServerAndTimeComeFirstThenTheClientsOrder) {  // RFC 2132 9.8
  const Reply& offer = Answer(Discovering({15, 6, 1, 3}));
  EXPECT_EQ(CodesOf(offer), (Codes{53, 54, 51, 15, 6, 1, 3, 58, 59}));
  EXPECT_EQ(ValueOf(offer, 53), std::vector<std::uint8_t>{2});
  EXPECT_EQ(ValueOf(offer, 54), (std::vector<std::uint8_t>{192, 0, 2, 1}));
  EXPECT_EQ(ValueOf(offer, 51), (std::vector<std::uint8_t>{0, 0, 2, 88}));
  EXPECT_EQ(ValueOf(offer, 58), (std::vector<std::uint8_t>{0, 0, 1, 44}));
  EXPECT_EQ(ValueOf(offer, 59), (std::vector<std::uint8_t>{0, 0, 2, 13}));
  EXPECT_EQ(ValueOf(offer, 1), (std::vector<std::uint8_t>{255, 255, 255, 0}));
  for (const ReplyOption& option : offer.options()) {
    const int code = static_cast<int>(option.code);
    EXPECT_EQ(option.required, code == 51 || code == 53 || code == 54) << code;
  }
}

TEST_F(ReplyBuilderTest, T1AndT2AreSentWhereTheClientAsksForThem) {  // RFC 2132 section 9.8
  EXPECT_EQ(CodesOf(Answer(Discovering({59, 15, 58, 6}).Id({1, 2}))),
            (Codes{53, 54, 51, 59, 15, 58, 6, 61, 1, 3}));
  EXPECT_EQ(CodesOf(Answer(Discovering({61, 6, 58, 58, 3}).Id({1, 2}))),
            (Codes{53, 54, 51, 6, 58, 1, 3, 59, 61}))
      << "what is left follows the list: 59, 61";
}

TEST_F(ReplyBuilderTest, TheMaskGoesBeforeTheRouters) {  // RFC 2132 section 3.3
  EXPECT_EQ(CodesOf(Answer(Discovering({15, 6, 3, 1}))), (Codes{53, 54, 51, 15, 6, 1, 3, 58, 59}));
}

TEST_F(ReplyBuilderTest, MaskAndRoutersEvenIfNotAskedFor) {
  EXPECT_EQ(CodesOf(Answer(Discovering({6}))), (Codes{53, 54, 51, 6, 58, 59, 1, 3}));
}

// RFC 2131 section 4.3.1: parameters with configured values; the list only narrows them down.
TEST_F(ReplyBuilderTest, AClientWithoutParameterRequestListGetsAllThatIsConfigured) {
  const Codes all = {53, 54, 51, 58, 59, 1, 3, 6, 15};
  EXPECT_EQ(CodesOf(Answer(ClientMessage(MessageType::kDiscover, 1))), all);
  EXPECT_EQ(CodesOf(Answer(Discovering({}))), all) << "an empty list is none (RFC 2132 9.8)";
  EXPECT_EQ(
      CodesOf(Answer(ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)))),
      all);
  EXPECT_EQ(CodesOf(Answer(ClientMessage(MessageType::kInform, 1).Ciaddr(InN(77)))),
            (Codes{53, 54, 1, 3, 6, 15}));
}

TEST_F(ReplyBuilderTest, AConfiguredMaskIsSentInsteadOfThePrefixs) {
  config.subnets[0].options.push_back({1, {255, 255, 0, 0}});
  EXPECT_EQ(ValueOf(Answer(Discovering({1})), 1), (std::vector<std::uint8_t>{255, 255, 0, 0}));
}

TEST_F(ReplyBuilderTest, RequestedTwiceOrForbiddenOrUnknownCodesAreSentOnceOrNot) {
  EXPECT_EQ(CodesOf(Answer(Discovering(
                {6, 6, 1, 1, 0, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 82, 118, 255, 200}))),
            (Codes{53, 54, 51, 6, 1, 58, 59, 3}));
}

TEST_F(ReplyBuilderTest, ProtocolOptionsAreNotTakenFromTheConfiguration) {
  config.subnets[0].options.push_back({54, {9, 9, 9, 9}});
  config.subnets[0].options.push_back({57, {4, 0}});
  EXPECT_EQ(CodesOf(Answer(Discovering({54, 57}))), (Codes{53, 54, 51, 58, 59, 1, 3}));
}

TEST_F(ReplyBuilderTest, AHostileRequestListOfAllCodesFits) {
  config.subnets[0].options.clear();
  std::vector<std::uint8_t> all;
  for (int code = 2; code < 255; ++code) {
    config.subnets[0].options.push_back({static_cast<std::uint8_t>(code), {1}});
    if (code != 3) all.push_back(static_cast<std::uint8_t>(code));
  }
  const Codes codes = CodesOf(Answer(Discovering(all).Id({1, 2})));
  EXPECT_LE(codes.size(), Reply::kOptionsMax);
  EXPECT_EQ(std::ranges::count(codes, 1), 1);
  EXPECT_EQ(std::ranges::count(codes, 3), 1);
  const Codes without_list = CodesOf(Answer(ClientMessage(MessageType::kDiscover, 1).Id({1, 2})));
  EXPECT_LE(without_list.size(), Reply::kOptionsMax);
  EXPECT_GT(without_list.size(), Reply::kOptionsMax / 2);
}

TEST_F(ReplyBuilderTest, ClientIdentifierIsEchoed) {  // RFC 6842
  const std::vector<std::uint8_t> id = {255, 1, 2, 0};
  const auto with_id = [&](MessageType type) {
    return ClientMessage(type, 1).Id(id).Requested(InN(10)).Server(kServer);
  };
  EXPECT_EQ(ValueOf(Answer(ClientMessage(MessageType::kDiscover, 1).Id(id)), 61), id);
  EXPECT_EQ(ValueOf(Answer(with_id(MessageType::kRequest)), 61), id);
  const Reply& nak = Answer(with_id(MessageType::kRequest).Id({}));
  EXPECT_EQ(nak.header.yiaddr, InN(10)) << "joined with an empty one it is the same";
  EXPECT_TRUE(ValueOf(Answer(Discovering({61})), 61).empty()) << "none was sent";
}

TEST_F(ReplyBuilderTest, NakHasOnlyWhatItMay) {  // RFC 2131 table 3
  const std::vector<std::uint8_t> information = {1, 1, 0};
  const Reply& nak =
      Answer(ClientMessage(MessageType::kRequest, 1)
                 .Relay(kRelayOfR)
                 .Server(kServer)
                 .Requested(InN(10))
                 .Ciaddr(kLimitedBroadcast)
                 .Siaddr(InN(9))
                 .Id({1, 2})
                 .Option(OptionCode::kParameterRequestList, std::vector<std::uint8_t>{1, 3, 6, 51})
                 .Option(OptionCode::kRelayAgentInformation, information));
  EXPECT_EQ(CodesOf(nak), (Codes{53, 54, 56, 61}));
  EXPECT_EQ(ValueOf(nak, 53), std::vector<std::uint8_t>{6});
  EXPECT_EQ(nak.header.ciaddr, Ipv4Address());
  EXPECT_EQ(nak.header.yiaddr, Ipv4Address());
  EXPECT_EQ(nak.header.siaddr, Ipv4Address());
  EXPECT_EQ(nak.header.giaddr, kRelayOfR);
  EXPECT_EQ(nak.header.flags, kBroadcastFlag) << "the relay must broadcast it (section 4.3.2)";
  ASSERT_TRUE(nak.relay_agent_information.has_value());
  EXPECT_TRUE(std::ranges::equal(*nak.relay_agent_information, information));
}

TEST_F(ReplyBuilderTest, ADirectNakKeepsTheFlags) {
  EXPECT_EQ(Answer(ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InR(10)))
                .header.flags,
            0);
}

TEST_F(ReplyBuilderTest, AckToARenewalRepeatsCiaddr) {
  Acquire(1);
  const Reply& ack = Answer(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)));
  EXPECT_EQ(ack.header.ciaddr, InN(10));
  EXPECT_EQ(ack.header.yiaddr, InN(10));
}

TEST_F(ReplyBuilderTest, AckWithGarbageInCiaddr) {
  EXPECT_EQ(Answer(ClientMessage(MessageType::kRequest, 1)
                       .Server(kServer)
                       .Requested(InN(10))
                       .Ciaddr(kLimitedBroadcast))
                .header.ciaddr,
            Ipv4Address());
}

TEST_F(ReplyBuilderTest, AckToInformHasNoTimes) {  // RFC 2131 section 4.3.5
  const Reply& ack = Answer(ClientMessage(MessageType::kInform, 1)
                                .Ciaddr(InN(77))
                                .Option(OptionCode::kParameterRequestList,
                                        std::vector<std::uint8_t>{1, 3, 6, 51, 58, 59}));
  EXPECT_EQ(CodesOf(ack), (Codes{53, 54, 1, 3, 6}));
  EXPECT_EQ(ack.header.yiaddr, Ipv4Address());
  EXPECT_EQ(ack.header.ciaddr, InN(77));
}

TEST_F(ReplyBuilderTest, RelayInformationIsEchoedByteForByte) {  // RFC 3046
  const std::vector<std::uint8_t> information = {1, 4, 0, 0, 0, 2, 6, 2, 0, 0, 0, 1, 0xFE, 1, 0};
  const Reply& offer = Answer(ClientMessage(MessageType::kDiscover, 1)
                                  .Relay(kRelayOfR)
                                  .Flags(0x8000)
                                  .Option(OptionCode::kRelayAgentInformation, information));
  ASSERT_TRUE(offer.relay_agent_information.has_value());
  EXPECT_TRUE(std::ranges::equal(*offer.relay_agent_information, information));
  EXPECT_EQ(offer.header.giaddr, kRelayOfR);
  EXPECT_EQ(offer.header.flags, 0x8000);
  EXPECT_FALSE(Answer(Discovering({82})).relay_agent_information.has_value());
}

TEST_F(ReplyBuilderTest, SubnetSelectionIsEchoedWhenItChose) {  // RFC 3011
  const auto select = [](ClientMessage message) {
    return message.Option(OptionCode::kSubnetSelection, InN(0));
  };
  const Reply& chosen = Answer(select(ClientMessage(MessageType::kDiscover, 1)).Relay(kRelayOfR));
  EXPECT_EQ(chosen.header.yiaddr, InN(10));
  EXPECT_EQ(CodesOf(chosen).back(), 118);
  EXPECT_NE(CodesOf(Answer(select(ClientMessage(MessageType::kDiscover, 1)))).back(), 118);
}

TEST_F(ReplyBuilderTest, NothingOfThePreviousReplyRemains) {
  Answer(Discovering({6}).Id({1, 2}).Relay(kRelayOfR).Option(OptionCode::kRelayAgentInformation,
                                                             std::vector<std::uint8_t>{1, 1, 1}));
  const Reply& offer = Answer(ClientMessage(MessageType::kDiscover, 2));
  EXPECT_EQ(CodesOf(offer), (Codes{53, 54, 51, 58, 59, 1, 3, 6, 15}));
  EXPECT_FALSE(offer.relay_agent_information.has_value());
  EXPECT_EQ(offer.header.giaddr, Ipv4Address());
}

}  // namespace
}  // namespace ringdhcp::test
