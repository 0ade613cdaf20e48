#include <gtest/gtest.h>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

// REBINDING: a DHCPREQUEST with ciaddr, sent to the broadcast address (RFC 2131 section 4.3.2).
class RebindingTest : public EngineFixture {
 protected:
  Decision Rebind(std::uint32_t client, Ipv4Address ciaddr) {
    link.broadcast = true;
    const Decision decision = Renew(client, ciaddr);
    link.broadcast = false;
    return decision;
  }
  void AcquireInR(std::uint32_t client) {
    EXPECT_TRUE(IsAck(Handle(ClientMessage(MessageType::kRequest, client)
                                 .Relay(kRelayOfR)
                                 .Server(kServer)
                                 .Requested(InR(10))),
                      "198.51.100.10"));
  }
};

TEST_F(RebindingTest, OnTheRightNetworkExtendsTheLease) {  // RFC 2131 section 4.3.2
  Acquire(1);
  Advance(550);
  const Decision ack = Rebind(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.lease_time_s, 600U);
}

// RFC 2131 section 4.3.2: a client that has moved to another network must not be told to go on with
// the address of its old one.
TEST_F(RebindingTest, OnTheWrongNetworkIsRefused) {
  AcquireInR(1);
  EXPECT_TRUE(IsNak(Rebind(1, InR(10))));
  EXPECT_EQ(CountsOf(2).bound, 1U) << "the lease on the other network stays";
  EXPECT_TRUE(IsAck(Renew(1, InR(10)), "198.51.100.10")) << "RENEWING is unicast, and routed";
}

TEST_F(RebindingTest, OnTheWrongNetworkByAClientWithoutRecord) {  // RFC 2131 section 4.3.2
  AcquireInR(1);
  EXPECT_TRUE(IsDrop(Rebind(2, InR(10)), DropReason::kUnknownClient)) << "of another client";
  EXPECT_TRUE(IsDrop(Rebind(2, InR(11)), DropReason::kUnknownClient));
  EXPECT_TRUE(IsDrop(Rebind(2, Address("203.0.113.9")), DropReason::kUnknownClient));
}

TEST_F(RebindingTest, OnTheWrongNetworkIsRefusedByAnAuthority) {  // RFC 2131 section 4.3.2
  config.subnets[0].authoritative = true;
  EXPECT_TRUE(IsNak(Rebind(2, InR(11))));
  EXPECT_TRUE(IsNak(Rebind(2, Address("203.0.113.9"))));
}

TEST_F(RebindingTest, OnALinkOfTwoNetworksBothAreRight) {  // RFC 2131 section 4.3.2
  AcquireInR(1);
  link.addresses.push_back({InR(9), Prefix("198.51.100.0/24")});
  EXPECT_TRUE(IsAck(Rebind(1, InR(10)), "198.51.100.10"));
}

}  // namespace
}  // namespace ringdhcp::test
