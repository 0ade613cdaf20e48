// RELEASE (RFC 2131 section 4.3.4), DECLINE (4.3.3) and INFORM (4.3.5).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

using ReleaseTest = EngineFixture;
using DeclineTest = EngineFixture;
using InformTest = EngineFixture;

TEST_F(ReleaseTest, FreesTheAddressAndStoresThat) {
  PoolOfN(10, 10);
  Acquire(1);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  const Decision released = Release(1, InN(10));
  EXPECT_TRUE(IsDrop(released, DropReason::kNoReplyNeeded));
  ASSERT_TRUE(released.has_mutation);
  EXPECT_EQ(released.mutation.state, LeaseState::kReleased);
  EXPECT_EQ(released.mutation.version, 2U);
  EXPECT_EQ(released.mutation.expires_wall_s, now.wall_s);
  EXPECT_EQ(CountsOf(1).bound, 0U);
  EXPECT_TRUE(IsOffer(Discover(3), "192.0.2.10"));
}

TEST_F(ReleaseTest, TwiceCountsOnce) {
  Acquire(1);
  Acquire(2);
  Release(1, InN(10));
  const Decision again = Release(1, InN(10));
  EXPECT_TRUE(IsDrop(again, DropReason::kNotHolder));
  EXPECT_FALSE(again.has_mutation);
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_EQ(CountsOf(1).free, 9U);
}

TEST_F(ReleaseTest, OnlyTheHolderMayRelease) {
  Handle(ClientMessage(MessageType::kRequest, 1).Id({1, 1}).Server(kServer).Requested(InN(10)));
  EXPECT_TRUE(IsDrop(Release(1, InN(10)), DropReason::kNotHolder)) << "no identifier";
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRelease, 1).Id({2, 2}).Ciaddr(InN(10))),
                     DropReason::kNotHolder));
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRelease, 1).Id({1, 1}).Ciaddr(InN(11))),
                     DropReason::kNotHolder));
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRelease, 1)
                                .Id({1, 1})
                                .Ciaddr(InN(10))
                                .Server(Address("192.0.2.200"))),
                     DropReason::kOtherServer));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRelease, 2).Id({1, 1}).Ciaddr(InN(10))),
                     DropReason::kNoReplyNeeded))
      << "the identifier decides";
  EXPECT_EQ(CountsOf(1).bound, 0U);
}

TEST_F(ReleaseTest, WithoutAnAddressOrOfAForeignOneNothing) {
  Acquire(1);
  for (const Ipv4Address address : {Ipv4Address(), kLimitedBroadcast, Address("203.0.113.9")}) {
    EXPECT_TRUE(IsDrop(Release(1, address), DropReason::kNotHolder));
  }
}

TEST_F(ReleaseTest, AnOfferCannotBeReleased) {
  Discover(1);
  EXPECT_TRUE(IsDrop(Release(1, InN(10)), DropReason::kNotHolder));
}

TEST_F(ReleaseTest, ThroughARelay) {
  config.subnets[1].pools = {{InR(10), InR(10)}};
  const auto relayed = [](MessageType type, std::uint32_t client) {
    return ClientMessage(type, client).Relay(kRelayOfR);
  };
  Handle(relayed(MessageType::kRequest, 1).Server(kServer).Requested(InR(10)));
  Handle(relayed(MessageType::kRelease, 1).Ciaddr(InR(10)));
  EXPECT_TRUE(IsOffer(Handle(relayed(MessageType::kDiscover, 2)), "198.51.100.10"));
}

TEST_F(ReleaseTest, TheRowKeepsNameAndRelayInformation) {
  const std::vector<std::uint8_t> circuit = {1, 4, 0, 0, 0, 2};
  Handle(ClientMessage(MessageType::kRequest, 1)
             .Relay(kRelayOfR)
             .Server(kServer)
             .Requested(InR(10))
             .Option(OptionCode::kHostName, "printer")
             .Option(OptionCode::kRelayAgentInformation, circuit));
  const Decision released = Release(1, InR(10));
  ASSERT_TRUE(released.has_mutation);
  EXPECT_EQ(released.mutation.host_name_length, 7);
  EXPECT_TRUE(std::ranges::equal(released.mutation.RelayInformation(), circuit));
}

TEST_F(DeclineTest, TakesTheAddressOutForTheProbation) {
  PoolOfN(10, 11);
  Acquire(1);
  const Decision declined = Decline(1, InN(10));
  EXPECT_TRUE(IsDrop(declined, DropReason::kNoReplyNeeded));
  ASSERT_TRUE(declined.has_mutation);
  EXPECT_EQ(declined.mutation.state, LeaseState::kDeclined);
  EXPECT_EQ(declined.mutation.expires_wall_s, now.wall_s + 900);
  EXPECT_EQ(CountsOf(1).declined, 1U);
  EXPECT_EQ(CountsOf(1).bound, 0U);
  EXPECT_EQ(Acquire(1), InN(11)) << "not even for the client that declined it";
  EXPECT_TRUE(IsNak(Select(2, InN(10))));
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Renew(1, InN(11));
  Advance(899);
  EXPECT_EQ(CountsOf(1).declined, 1U);
  Advance(2);
  EXPECT_EQ(CountsOf(1).declined, 0U);
  EXPECT_EQ(CountsOf(1).free, 2U);
  EXPECT_EQ(Acquire(2), InN(11));
  EXPECT_EQ(Acquire(3), InN(10));
}

TEST_F(DeclineTest, OnlyTheHolderMayDecline) {
  Handle(ClientMessage(MessageType::kRequest, 1).Id({1, 1}).Server(kServer).Requested(InN(10)));
  const auto decline = [](std::uint32_t client) {
    return ClientMessage(MessageType::kDecline, client);
  };
  EXPECT_TRUE(IsDrop(Handle(decline(1).Requested(InN(10))), DropReason::kNotHolder));
  EXPECT_TRUE(IsDrop(Handle(decline(1).Id({2, 2}).Requested(InN(10))), DropReason::kNotHolder));
  EXPECT_TRUE(IsDrop(Handle(decline(1).Id({1, 1}).Requested(InN(11))), DropReason::kNotHolder));
  EXPECT_TRUE(IsDrop(Handle(decline(1).Id({1, 1}).Ciaddr(InN(10))), DropReason::kNotHolder))
      << "no option 50";
  EXPECT_TRUE(
      IsDrop(Handle(decline(1).Id({1, 1}).Requested(InN(10)).Server(Address("192.0.2.200"))),
             DropReason::kOtherServer));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_TRUE(IsDrop(Handle(decline(1).Id({1, 1}).Requested(InN(10))), DropReason::kNoReplyNeeded))
      << "option 54 is not insisted on";
  EXPECT_EQ(CountsOf(1).declined, 1U);
}

TEST_F(DeclineTest, AnOfferCannotBeDeclined) {  // else anyone could empty the pool
  Discover(1);
  EXPECT_TRUE(IsDrop(Decline(1, InN(10)), DropReason::kNotHolder));
  EXPECT_EQ(CountsOf(1).declined, 0U);
}

TEST_F(DeclineTest, TheDeclinedAddressIsNotRenewed) {
  Acquire(1);
  Decline(1, InN(10));
  EXPECT_TRUE(IsDrop(Renew(1, InN(10)), DropReason::kUnknownClient));
  EXPECT_TRUE(IsDrop(Reboot(1, InN(10)), DropReason::kUnknownClient));
}

TEST_F(InformTest, GetsParametersButNoLease) {
  const Decision ack = Handle(ClientMessage(MessageType::kInform, 1).Ciaddr(InN(77)));
  EXPECT_TRUE(IsAck(ack, "0.0.0.0"));
  EXPECT_EQ(ack.lease_time_s, 0U);
  EXPECT_EQ(ack.t1_s, 0U);
  EXPECT_EQ(ack.t2_s, 0U);
  EXPECT_FALSE(ack.has_mutation);
  EXPECT_EQ(ack.subnet->id, SubnetId(1));
  EXPECT_EQ(CountsOf(1).free, 10U);
}

TEST_F(InformTest, DoesNotTouchAnExistingLease) {
  Acquire(1);
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kInform, 1).Ciaddr(InN(10))), "0.0.0.0"));
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(InformTest, ThroughARelayWithoutCiaddr) {
  const Decision ack = Handle(ClientMessage(MessageType::kInform, 1).Relay(kRelayOfR));
  EXPECT_TRUE(IsAck(ack, "0.0.0.0"));
  EXPECT_EQ(ack.subnet->id, SubnetId(2));
}

TEST_F(InformTest, WithOurServerIdentifierIsAnswered) {
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kInform, 1).Ciaddr(InN(77)).Server(kServer)),
                    "0.0.0.0"));
}

TEST_F(InformTest, FromAnUnknownNetworkIsSilent) {
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kInform, 1).Ciaddr(Address("203.0.113.9"))),
                     DropReason::kNoSubnet));
}

TEST_F(InformTest, IsAnsweredWhileTheStoreFails) {
  store_ok = false;
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kInform, 1).Ciaddr(InN(77))), "0.0.0.0"));
}

}  // namespace
}  // namespace ringdhcp::test
