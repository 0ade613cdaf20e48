#include <gtest/gtest.h>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

class RequestTest : public EngineFixture {
 protected:
  void BeAuthoritative() {
    for (Subnet& subnet : config.subnets) subnet.authoritative = true;
  }
};

// ---- SELECTING (RFC 2131 section 4.3.2) ----

TEST_F(RequestTest, SelectingOfTheOfferIsAcknowledgedAndStored) {
  Discover(1);
  const Decision ack = Select(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.lease_time_s, 600U);
  EXPECT_EQ(ack.server_identifier, kServer);
  ASSERT_TRUE(ack.has_mutation);
  const LeaseRecord& row = ack.mutation;
  EXPECT_EQ(row.address, InN(10));
  EXPECT_EQ(row.subnet, SubnetId(1));
  EXPECT_EQ(row.state, LeaseState::kBound);
  EXPECT_EQ(row.version, 1U);
  EXPECT_EQ(row.starts_wall_s, now.wall_s);
  EXPECT_EQ(row.expires_wall_s, now.wall_s + 600);
  EXPECT_EQ(row.htype, 1);
  EXPECT_EQ(row.hlen, 6);
  EXPECT_EQ(row.chaddr[0], 2);
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(RequestTest, SelectingAfterTheOfferWasForgottenIsAcknowledged) {
  Discover(1);
  Crash();
  EXPECT_TRUE(IsAck(Select(1, InN(10)), "192.0.2.10"));
}

TEST_F(RequestTest, SelectingOfAnAddressThatIsNotAvailableIsRefused) {
  Acquire(1);   // .10
  Discover(2);  // .11
  Acquire(3);   // .12
  Decline(3, InN(12));
  const struct {
    Ipv4Address address;
    const char* why;
  } kCases[] = {{InN(10), "leased to another"}, {InN(11), "offered to another"},
                {InN(12), "declined"},          {InN(200), "outside the pool"},
                {InR(10), "another network"},   {kServer, "the server's own address"},
                {InN(255), "broadcast"},        {Ipv4Address(), "zero"}};
  for (const auto& c : kCases) {
    const Decision nak = Select(9, c.address);
    EXPECT_TRUE(IsNak(nak)) << c.why;
    EXPECT_FALSE(nak.has_mutation) << c.why;
    EXPECT_EQ(nak.server_identifier, kServer);
    EXPECT_EQ(nak.lease_time_s, 0U);
    EXPECT_EQ(nak.t1_s, 0U);
    EXPECT_FALSE(nak.text.empty());
  }
}

TEST_F(RequestTest, SelectingOfASecondAddressIsRefused) {
  Acquire(1);
  EXPECT_TRUE(IsNak(Select(1, InN(15)))) << "it holds .10";
  Discover(2);
  EXPECT_TRUE(IsNak(Select(2, InN(16)))) << "it was offered .11";
  EXPECT_TRUE(IsAck(Select(2, InN(11)), "192.0.2.11"));
}

TEST_F(RequestTest, SelectingMayMoveAClientWhoseLeaseIsOver) {
  Acquire(1);
  Release(1, InN(10));
  EXPECT_TRUE(IsAck(Select(1, InN(15)), "192.0.2.15"));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.15"));
}

TEST_F(RequestTest, AnotherServersIdentifierWithdrawsTheOffer) {
  PoolOfN(10, 10);
  Discover(1);
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRequest, 1)
                                .Server(Address("192.0.2.200"))
                                .Requested(InN(10))),
                     DropReason::kOtherServer));
  EXPECT_EQ(CountsOf(1).offered, 0U);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(RequestTest, AnotherServersIdentifierDoesNotEndALease) {
  Acquire(1);
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRequest, 1)
                                .Server(Address("192.0.2.200"))
                                .Requested(InN(10))),
                     DropReason::kOtherServer));
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(RequestTest, AnyAddressOfThisHostIsAServerIdentifier) {
  const Ipv4Address second = Address("203.0.113.1");
  host_addresses.push_back(second);
  Discover(1);
  const Decision ack =
      Handle(ClientMessage(MessageType::kRequest, 1).Server(second).Requested(InN(10)));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
}

TEST_F(RequestTest, ConfiguredServerIdentifier) {
  const Ipv4Address configured = Address("203.0.113.7");
  config.subnets[0].server_identifier = configured;
  EXPECT_EQ(Discover(1).server_identifier, configured);
  const Decision ack =
      Handle(ClientMessage(MessageType::kRequest, 1).Server(configured).Requested(InN(10)));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.server_identifier, configured);
}

TEST_F(RequestTest, TheServerIdentifierOfAnOfferIsAccepted) {
  for (std::uint32_t c = 1; c <= 10; ++c) {
    const Decision offer = Discover(c);
    const Decision ack = Handle(ClientMessage(MessageType::kRequest, c)
                                    .Server(offer.server_identifier)
                                    .Requested(offer.yiaddr));
    EXPECT_TRUE(IsAck(ack, offer.yiaddr.ToString()));
  }
}

TEST_F(RequestTest, GarbageInCiaddrDoesNotMatterBesideAServerIdentifier) {
  Discover(1);
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kRequest, 1)
                               .Server(kServer)
                               .Requested(InN(10))
                               .Ciaddr(kLimitedBroadcast)),
                    "192.0.2.10"));
}

TEST_F(RequestTest, RequestsThatFitNoStateAreDropped) {
  Acquire(1);
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRequest, 1)), DropReason::kInvalidRequest));
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRequest, 1).Server(kServer)),
                     DropReason::kInvalidRequest));
  EXPECT_TRUE(IsDrop(Renew(1, kLimitedBroadcast), DropReason::kInvalidRequest));
  EXPECT_TRUE(
      IsDrop(Handle(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)).Requested(InN(11))),
             DropReason::kInvalidRequest));
}

TEST_F(RequestTest, ServerIdentifierWithCiaddrIsARenewal) {  // seen in the wild
  Acquire(1);
  Advance(300);
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)).Server(kServer)),
                    "192.0.2.10"));
  EXPECT_TRUE(IsDrop(
      Handle(
          ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)).Server(Address("192.0.2.200"))),
      DropReason::kOtherServer));
}

// ---- INIT-REBOOT ----

TEST_F(RequestTest, RebootOfAKnownClientWithItsAddress) {
  Acquire(1);
  EXPECT_TRUE(IsAck(Reboot(1, InN(10)), "192.0.2.10"));
}

TEST_F(RequestTest, RebootAfterTheLeaseEndedGetsItAgainWhileItIsFree) {
  PoolOfN(10, 10);
  Acquire(1);
  Advance(700);
  const Decision ack = Reboot(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_TRUE(ack.has_mutation);
  Release(1, InN(10));
  EXPECT_TRUE(IsAck(Reboot(1, InN(10)), "192.0.2.10"));
  Release(1, InN(10));
  Acquire(2);
  EXPECT_TRUE(IsDrop(Reboot(1, InN(10)), DropReason::kUnknownClient))
      << "its record is gone with the address";
}

TEST_F(RequestTest, RebootOfAKnownClientWithAnotherAddressIsRefused) {
  Acquire(1);
  EXPECT_TRUE(IsNak(Reboot(1, InN(11))));
  EXPECT_TRUE(IsNak(Reboot(1, InN(200))));
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(RequestTest, RebootOnTheWrongNetworkIsRefused) {
  Acquire(1);
  EXPECT_TRUE(IsNak(Reboot(1, Address("185.0.50.0"))));
  EXPECT_TRUE(IsNak(Reboot(1, InR(10))));
  const Decision relayed =
      Handle(ClientMessage(MessageType::kRequest, 1).Relay(kRelayOfR).Requested(InN(10)));
  EXPECT_TRUE(IsNak(relayed));
}

TEST_F(RequestTest, RebootForASecondNetworkOfTheLinkIsNotOursToRefuse) {
  link.addresses.push_back({Address("10.1.0.1"), Prefix("10.1.0.0/16")});
  EXPECT_TRUE(IsDrop(Reboot(1, Address("10.1.2.3")), DropReason::kUnknownClient));
}

TEST_F(RequestTest, RebootOfAnUnknownClientIsSilent) {  // "MUST remain silent"
  Acquire(1);
  Discover(2);  // an offer alone does not make a client known
  for (const std::uint32_t client : {2U, 9U}) {
    for (const Ipv4Address address : {InN(10), InN(14), InN(200)}) {
      EXPECT_TRUE(IsDrop(Reboot(client, address), DropReason::kUnknownClient));
    }
  }
}

TEST_F(RequestTest, RebootOfAnUnknownClientIsRefusedByAnAuthority) {
  BeAuthoritative();
  Acquire(1);
  for (const Ipv4Address address : {InN(10), InN(14), InN(200)}) {
    EXPECT_TRUE(IsNak(Reboot(9, address)));
  }
}

TEST_F(RequestTest, RebootForWhatWasJustOfferedIsGranted) {  // a client that leaves out option 54
  Discover(1);
  EXPECT_TRUE(IsAck(Reboot(1, InN(10)), "192.0.2.10"));
}

TEST_F(RequestTest, RebootFromANetworkWithoutSubnetIsSilent) {
  BeAuthoritative();
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kRequest, 1)
                                .Relay(Address("203.0.113.1"))
                                .Requested(Address("203.0.113.9"))),
                     DropReason::kNoSubnet));
}

// ---- RENEWING and REBINDING ----

TEST_F(RequestTest, RenewalExtendsTheLease) {
  Acquire(1);
  Advance(300);
  const Decision ack = Renew(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.lease_time_s, 600U);
  EXPECT_EQ(ack.mutation.version, 2U);
  EXPECT_EQ(ack.mutation.expires_wall_s, now.wall_s + 600);
  Advance(599);
  EXPECT_EQ(CountsOf(1).bound, 1U);
  Advance(2);
  EXPECT_EQ(CountsOf(1).bound, 0U);
}

TEST_F(RequestTest, RenewalOfAnothersAddressIsRefused) {
  Acquire(1);
  Discover(2);
  EXPECT_TRUE(IsNak(Renew(3, InN(10))));
  EXPECT_TRUE(IsNak(Renew(3, InN(11))));
}

TEST_F(RequestTest, RenewalByAnUnknownClient) {
  EXPECT_TRUE(IsDrop(Renew(1, InN(12)), DropReason::kUnknownClient));
  EXPECT_TRUE(IsDrop(Renew(1, InN(200)), DropReason::kUnknownClient));
  EXPECT_TRUE(IsDrop(Renew(1, Address("203.0.113.9")), DropReason::kUnknownClient));
  EXPECT_EQ(CountsOf(1).free, 10U);
}

TEST_F(RequestTest, RenewalByAnUnknownClientIsRefusedByAnAuthority) {
  BeAuthoritative();
  EXPECT_TRUE(IsNak(Renew(1, InN(12))));
  EXPECT_TRUE(IsNak(Renew(1, InN(200))));
  EXPECT_TRUE(IsNak(Renew(1, Address("203.0.113.9"))));
}

TEST_F(RequestTest, RenewalOfAnExpiredLeaseThatIsStillFree) {
  Acquire(1);
  Advance(601);
  EXPECT_TRUE(IsAck(Renew(1, InN(10)), "192.0.2.10"));
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(RequestTest, RelayedRenewal) {
  Handle(
      ClientMessage(MessageType::kRequest, 1).Relay(kRelayOfR).Server(kServer).Requested(InR(10)));
  Advance(300);
  const Decision ack =
      Handle(ClientMessage(MessageType::kRequest, 1).Relay(kRelayOfR).Ciaddr(InR(10)));
  EXPECT_TRUE(IsAck(ack, "198.51.100.10"));
  EXPECT_EQ(ack.lease_time_s, 600U);
}

TEST_F(RequestTest, RenewalByUnicastFromARoutedNetwork) {
  Handle(
      ClientMessage(MessageType::kRequest, 1).Relay(kRelayOfR).Server(kServer).Requested(InR(10)));
  Advance(300);
  const Decision ack = Renew(1, InR(10));
  EXPECT_TRUE(IsAck(ack, "198.51.100.10"));
  EXPECT_EQ(ack.subnet->id, SubnetId(2));
}

TEST_F(RequestTest, RelayedRebindingOnTheWrongNetwork) {
  Acquire(1);
  EXPECT_TRUE(
      IsDrop(Handle(ClientMessage(MessageType::kRequest, 1).Relay(kRelayOfR).Ciaddr(InN(10))),
             DropReason::kUnknownClient));
  EXPECT_EQ(CountsOf(1).bound, 1U) << "the lease on the other network stays";
}

TEST_F(RequestTest, NeverAnAckForAnotherAddressThanAskedFor) {
  Acquire(1);
  for (std::uint32_t host = 0; host < 256; ++host) {
    for (const Decision& d : {Reboot(1, InN(host)), Select(1, InN(host)), Renew(1, InN(host))}) {
      if (d.kind == Decision::Kind::kReply && d.reply_type == MessageType::kAck) {
        EXPECT_EQ(d.yiaddr, InN(host));
        EXPECT_EQ(host, 10U);
      }
    }
  }
}

// ---- Lease time ----

TEST_F(RequestTest, AShorterRenewalDoesNotTakeBackTheLongerPromise) {
  PoolOfN(10, 10);
  Handle(
      ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)).LeaseTime(3600));
  Advance(10);
  const Decision ack =
      Handle(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)).LeaseTime(60));
  EXPECT_EQ(ack.lease_time_s, 60U);
  EXPECT_EQ(ack.mutation.expires_wall_s, now.wall_s + 3590);
  // That ACK may have been lost: the client may still count on the first.
  Advance(3500);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Advance(91);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(RequestTest, StepsOfTheWallClockDoNotEndLeases) {
  PoolOfN(10, 10);
  Acquire(1);
  now.wall_s += 4 * 86400;
  Advance(300);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  now.wall_s -= 8 * 86400;
  Advance(301);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

// ---- One client in several places ----

TEST_F(RequestTest, OneIdentifierInTwoSubnetsHoldsTwoLeases) {
  Handle(ClientMessage(MessageType::kRequest, 1).Id({1, 2}).Server(kServer).Requested(InN(10)));
  Handle(ClientMessage(MessageType::kRequest, 1)
             .Id({1, 2})
             .Relay(kRelayOfR)
             .Server(kServer)
             .Requested(InR(10)));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_EQ(CountsOf(2).bound, 1U);
  Advance(300);
  EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kRequest, 1).Id({1, 2}).Ciaddr(InN(10))),
                    "192.0.2.10"));
}

TEST_F(RequestTest, ClonedIdentifiersShareOneLease) {
  Handle(ClientMessage(MessageType::kRequest, 1).Id({1, 2}).Server(kServer).Requested(InN(10)));
  const Decision offer = Handle(ClientMessage(MessageType::kDiscover, 2).Id({1, 2}));
  EXPECT_TRUE(IsOffer(offer, "192.0.2.10"));
  const Decision ack =
      Handle(ClientMessage(MessageType::kRequest, 2).Id({1, 2}).Server(kServer).Requested(InN(10)));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  ASSERT_TRUE(ack.has_mutation) << "the hardware address changed";
  EXPECT_EQ(ack.mutation.chaddr[5], 2);
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(RequestTest, TheServersOwnRelayAddressIsRefused) {
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kDiscover, 1).Relay(kServer)),
                     DropReason::kBadGiaddr));
}

TEST_F(RequestTest, AHundredCopiesMakeOneLease) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(IsAck(Select(1, InN(10)), "192.0.2.10"));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  EXPECT_EQ(stored[InN(10)].version, 1U);
}

}  // namespace
}  // namespace ringdhcp::test
