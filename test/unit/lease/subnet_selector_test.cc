#include "server/lease/subnet_selector.h"

#include <gtest/gtest.h>

#include "server/lease/lease_table.h"
#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

class SubnetSelectorTest : public EngineFixture {
 protected:
  std::uint32_t Select(const Message& message) {
    return SubnetSelector(config.subnets).Select(message, link);
  }
  static ClientMessage Discover() { return ClientMessage(MessageType::kDiscover, 1); }
  static std::vector<std::uint8_t> LinkSelection(Ipv4Address a) {
    return {1,
            1,
            7,
            5,
            4,
            static_cast<std::uint8_t>(a.value >> 24),
            static_cast<std::uint8_t>(a.value >> 16),
            static_cast<std::uint8_t>(a.value >> 8),
            static_cast<std::uint8_t>(a.value)};
  }
  static constexpr std::uint32_t kN = 0, kR = 1;
};

TEST_F(SubnetSelectorTest, TheInterfacesAddresses) {
  EXPECT_EQ(Select(Discover()), kN);
  link.addresses = {{Address("10.0.0.1"), Prefix("10.0.0.0/8")},
                    {InR(9), Prefix("198.51.100.0/24")}};
  EXPECT_EQ(Select(Discover()), kR) << "the second address";
  link.addresses.clear();
  EXPECT_EQ(Select(Discover()), kNoSubnetIndex);
}

TEST_F(SubnetSelectorTest, TheInterfacesNameGoesFirst) {
  config.subnets[1].interface = "lan0";
  EXPECT_EQ(Select(Discover()), kR);
  config.subnets[0].interface = "lan0";
  EXPECT_EQ(Select(Discover()), kN) << "of two, the one with an address on the link";
  config.subnets[0].interface = config.subnets[1].interface = "lan1";
  EXPECT_EQ(Select(Discover()), kNoSubnetIndex) << "tied to another interface";
}

TEST_F(SubnetSelectorTest, Relayed) {
  EXPECT_EQ(Select(Discover().Relay(kRelayOfR)), kR);
  EXPECT_EQ(Select(Discover().Relay(InN(254))), kN);
  EXPECT_EQ(Select(Discover().Relay(Address("203.0.113.1"))), kNoSubnetIndex);
}

TEST_F(SubnetSelectorTest, LinkSelectionBeforeSubnetSelectionBeforeGiaddr) {  // RFC 3527, RFC 3011
  const auto agent = OptionCode::kRelayAgentInformation;
  const auto selection = OptionCode::kSubnetSelection;
  const std::vector<std::uint8_t> circuit = {1, 1, 1};
  EXPECT_EQ(Select(Discover().Relay(InN(254)).Option(selection, InR(0)).Option(agent, circuit)),
            kR);
  EXPECT_EQ(Select(Discover()
                       .Relay(kRelayOfR)
                       .Option(selection, InR(0))
                       .Option(agent, LinkSelection(InN(0)))),
            kN);
  EXPECT_EQ(Select(Discover().Relay(InN(254)).Option(selection, Address("203.0.113.0"))),
            kNoSubnetIndex)
      << "an unknown subnet must not be answered";
  EXPECT_EQ(Select(Discover().Relay(InN(254)).Option(agent, LinkSelection(Address("203.0.113.0")))),
            kNoSubnetIndex);
}

TEST_F(SubnetSelectorTest, WithoutARelayTheClientDoesNotChooseItsNetwork) {
  EXPECT_EQ(Select(Discover().Option(OptionCode::kSubnetSelection, InR(0))), kN);
  EXPECT_EQ(Select(Discover().Option(OptionCode::kRelayAgentInformation, LinkSelection(InR(0)))),
            kN);
}

TEST_F(SubnetSelectorTest, BrokenRelayInformationIsPassedOver) {
  for (const std::vector<std::uint8_t>& broken : {std::vector<std::uint8_t>{},
                                                  {5},
                                                  {5, 4},
                                                  {5, 4, 1, 2, 3},
                                                  {5, 3, 1, 2, 3},
                                                  {1, 255, 5, 4},
                                                  {5, 0}}) {
    EXPECT_EQ(
        Select(Discover().Relay(kRelayOfR).Option(OptionCode::kRelayAgentInformation, broken)), kR);
  }
}

TEST_F(SubnetSelectorTest, CiaddrOfThoseThatHaveAnAddress) {
  using enum MessageType;
  const struct {
    MessageType type;
    Ipv4Address ciaddr;
    std::uint32_t subnet;
  } kCases[] = {{kRequest, InR(10), kR},
                {kInform, InR(10), kR},
                {kRelease, InR(10), kR},
                {kDiscover, InR(10), kN},
                {kRequest, Address("203.0.113.9"), kN},
                {kInform, Address("203.0.113.9"), kNoSubnetIndex},
                {kInform, kLimitedBroadcast, kN},
                {kInform, Ipv4Address(), kN}};
  for (const auto& c : kCases) {
    EXPECT_EQ(Select(ClientMessage(c.type, 1).Ciaddr(c.ciaddr)), c.subnet)
        << static_cast<int>(c.type) << ' ' << c.ciaddr.ToString();
  }
  EXPECT_EQ(Select(ClientMessage(kRequest, 1).Ciaddr(InR(10)).Server(kServer).Requested(InN(10))),
            kN)
      << "SELECTING is not renewing";
}

// RFC 2131 section 4.3.2: REBINDING is broadcast, and a broadcast comes from this link; RENEWING is
// unicast, and may come from any network.
TEST_F(SubnetSelectorTest, ABroadcastRequestIsJudgedAgainstTheLink) {
  ClientMessage from_r = ClientMessage(MessageType::kRequest, 1).Ciaddr(InR(10));
  EXPECT_EQ(Select(from_r), kR) << "unicast";
  link.broadcast = true;
  EXPECT_EQ(Select(from_r), kN);
  EXPECT_EQ(Select(ClientMessage(MessageType::kRequest, 1).Ciaddr(InR(10)).Relay(kRelayOfR)), kR)
      << "relayed, giaddr tells";
  EXPECT_EQ(Select(ClientMessage(MessageType::kInform, 1).Ciaddr(InR(10))), kR)
      << "its answer goes to ciaddr (section 4.3.5)";
  link.addresses.push_back({InR(9), Prefix("198.51.100.0/24")});
  EXPECT_EQ(Select(from_r), kR) << "the link carries both networks";
  config.subnets[1].interface = "lan1";
  EXPECT_EQ(Select(from_r), kN);
  config.subnets[1].interface = "lan0";
  link.addresses.pop_back();
  EXPECT_EQ(Select(from_r), kR);
}

// RFC 5107: the relay stands in the server's place.
TEST_F(SubnetSelectorTest, ServerIdentifierOverride) {
  const std::vector<std::uint8_t> information = {11, 4, 198, 51, 100, 1};
  const auto agent = OptionCode::kRelayAgentInformation;
  const Decision offer = Handle(Discover().Relay(kRelayOfR).Option(agent, information));
  EXPECT_EQ(offer.server_identifier, kRelayOfR);
  const Decision ack = Handle(ClientMessage(MessageType::kRequest, 1)
                                  .Relay(kRelayOfR)
                                  .Server(kRelayOfR)
                                  .Requested(offer.yiaddr)
                                  .Option(agent, information));
  EXPECT_TRUE(IsAck(ack, "198.51.100.10"));
  EXPECT_EQ(ack.server_identifier, kRelayOfR);
}

TEST_F(SubnetSelectorTest, ServerIdentifierOfARelayedClientIsTheLinksFirstAddress) {
  EXPECT_EQ(Handle(Discover().Relay(kRelayOfR)).server_identifier, kServer);
}

// RFC 2131 section 4.1: an identifier that clients of the link can reach, so none of another
// interface.
TEST_F(SubnetSelectorTest, ServerIdentifierIsNeverAnAddressOfAnotherInterface) {
  config.subnets[0].interface = "lan0";
  host_addresses = {Address("127.0.0.1"), Address("169.254.7.7"), InR(1)};
  link.addresses.clear();
  EXPECT_TRUE(IsDrop(Handle(Discover()), DropReason::kNoServerAddress));
  EXPECT_TRUE(IsDrop(Handle(Discover().Relay(InR(9))), DropReason::kNoServerAddress));
  link.addresses = {{Address("10.0.0.1"), Prefix("10.0.0.0/8")}};
  EXPECT_EQ(Handle(Discover()).server_identifier, Address("10.0.0.1")) << "the link's own";
}

// RFC 2131 section 4.1.
TEST_F(SubnetSelectorTest, ServerIdentifierIsTheLinksFirstAddressInTheSubnet) {
  config.subnets[0].interface = "lan0";
  link.addresses = {{Address("10.0.0.1"), Prefix("10.0.0.0/8")},
                    {InN(2), Prefix("192.0.2.0/24")},
                    {InN(3), Prefix("192.0.2.0/24")}};
  EXPECT_EQ(Handle(Discover()).server_identifier, InN(2));
  EXPECT_EQ(Handle(Discover().Relay(kRelayOfR)).server_identifier, Address("10.0.0.1"));
}

TEST_F(SubnetSelectorTest, ALoopbackAddressInTheSubnetIsPassedOver) {  // RFC 1122 section 3.2.1.3
  config.subnets.insert(config.subnets.begin(),
                        MakeSubnet(3, "127.0.0.0/24", "127.0.0.10", "127.0.0.19"));
  config.subnets[0].interface = "lan0";
  link.addresses = {{kServer, Prefix("192.0.2.0/24")},
                    {Address("127.0.0.1"), Prefix("127.0.0.0/24")}};
  EXPECT_EQ(Handle(Discover()).server_identifier, kServer);
}

TEST_F(SubnetSelectorTest, AConfiguredServerIdentifierNeedsNoAddressOnTheLink) {
  config.subnets[0].interface = "lan0";
  config.subnets[0].server_identifier = InN(5);
  link.addresses = {{kServer, Prefix("192.0.2.0/24")}};
  EXPECT_EQ(Handle(Discover()).server_identifier, InN(5));
  link.addresses.clear();
  EXPECT_EQ(Handle(Discover()).server_identifier, InN(5));
}

// RFC 2131 section 4.3.4: there is no answer to a RELEASE, so no address is needed for one.
TEST_F(SubnetSelectorTest, AReleaseIsTakenOnALinkWithoutAddress) {
  EXPECT_EQ(Acquire(1), InN(10));
  link.addresses.clear();
  EXPECT_TRUE(IsDrop(Release(1, InN(10)), DropReason::kNoReplyNeeded));
  EXPECT_EQ(CountsOf(1).bound, 0U);
}

}  // namespace
}  // namespace ringdhcp::test
