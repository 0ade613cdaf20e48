#include <gtest/gtest.h>

#include <set>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

using DiscoverTest = EngineFixture;

TEST_F(DiscoverTest, OffersTheFirstAddressWithDefaultTimes) {
  const Decision offer = Discover(1);
  EXPECT_TRUE(IsOffer(offer, "192.0.2.10"));
  EXPECT_EQ(offer.server_identifier, kServer);
  EXPECT_EQ(offer.lease_time_s, 600U);
  EXPECT_EQ(offer.t1_s, 300U);
  EXPECT_EQ(offer.t2_s, 525U);
  EXPECT_EQ(offer.subnet, &engine().config().subnets[0]);
  EXPECT_FALSE(offer.has_mutation) << "RFC 2131 4.3.1: an offer need not be recorded";
  EXPECT_EQ(offer.gate, CommitSeq());
}

TEST_F(DiscoverTest, RetransmissionGetsTheSameOffer) {
  const Decision first = Discover(1);
  Discover(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Discover(1).yiaddr, first.yiaddr);
  EXPECT_EQ(CountsOf(1).offered, 2U);
}

TEST_F(DiscoverTest, ABurstGetsDifferentAddressesAndEachIsAcknowledged) {
  std::set<Ipv4Address> offered;
  for (std::uint32_t c = 1; c <= 10; ++c) offered.insert(Discover(c).yiaddr);
  EXPECT_EQ(offered.size(), 10U);
  for (std::uint32_t c = 1; c <= 10; ++c) {
    EXPECT_TRUE(IsAck(Select(c, InN(9 + c)), InN(9 + c).ToString()));
  }
}

TEST_F(DiscoverTest, AnExhaustedPoolIsSilentAndNeverNaks) {
  PoolOfN(1, 3);
  // .1 is the server's own address.
  EXPECT_EQ(Acquire(1), InN(2));
  EXPECT_EQ(Acquire(2), InN(3));
  EXPECT_TRUE(IsDrop(Discover(3), DropReason::kPoolExhausted));
  EXPECT_TRUE(IsNak(Select(4, kServer)));
}

TEST_F(DiscoverTest, NetworkAndBroadcastAddressAreNeverLeased) {
  PoolOfN(0, 255);
  std::set<Ipv4Address> leased;
  for (std::uint32_t c = 1; c <= 253; ++c) leased.insert(Acquire(c));
  EXPECT_EQ(leased.size(), 253U);  // 254 hosts less the server
  EXPECT_EQ(*leased.begin(), InN(2));
  EXPECT_EQ(*leased.rbegin(), InN(254));
  EXPECT_TRUE(IsDrop(Discover(999), DropReason::kPoolExhausted));
  EXPECT_TRUE(IsNak(Select(999, InN(0))));
  EXPECT_TRUE(IsNak(Select(999, InN(255))));
  EXPECT_EQ(CountsOf(1).total, 254U);
}

TEST_F(DiscoverTest, ANewHostAddressIsSkippedAndComesBack) {
  PoolOfN(10, 10);
  host_addresses.push_back(InN(10));
  EXPECT_TRUE(IsDrop(Discover(1), DropReason::kPoolExhausted));
  EXPECT_TRUE(IsNak(Select(1, InN(10))));
  host_addresses.pop_back();
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
}

TEST_F(DiscoverTest, AClientWhoseAddressBecameAHostsGetsAnother) {
  EXPECT_EQ(Acquire(1), InN(10));
  host_addresses.push_back(InN(10));
  EXPECT_TRUE(IsNak(Renew(1, InN(10))));
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.11"));
  EXPECT_EQ(Acquire(1), InN(11));
  EXPECT_EQ(CountsOf(1).bound, 2U) << "the first lease was acknowledged and still runs";
  EXPECT_TRUE(IsNak(Select(2, InN(10))));
  host_addresses.pop_back();
  EXPECT_TRUE(IsAck(Renew(1, InN(10)), "192.0.2.10")) << "and is still this client's";
  Advance(601);
  EXPECT_EQ(CountsOf(1).free, 10U);
}

TEST_F(DiscoverTest, RenewingAnEarlierLeaseGivesUpALaterOffer) {
  config.cache_threshold = 0;
  EXPECT_EQ(Acquire(1), InN(10));
  host_addresses.push_back(InN(10));
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.11"));
  host_addresses.pop_back();
  EXPECT_TRUE(IsAck(Renew(1, InN(10)), "192.0.2.10"));
  EXPECT_EQ(CountsOf(1).offered, 0U);
  EXPECT_EQ(CountsOf(1).bound, 1U);
}

TEST_F(DiscoverTest, ARequestedAddressWhoseLeaseJustEndedIsFree) {
  EXPECT_EQ(Acquire(1), InN(10));
  now.monotonic_ns += 601 * kNanosecondsPerSecond;  // no tick yet
  EXPECT_TRUE(
      IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Requested(InN(10))), "192.0.2.10"));
}

// RFC 2131 section 4.3.1, in this order: current, previous, requested, any.
TEST_F(DiscoverTest, CurrentLeaseBeforeRequestedAddress) {
  EXPECT_EQ(Acquire(1), InN(10));
  EXPECT_TRUE(
      IsOffer(Handle(ClientMessage(MessageType::kDiscover, 1).Requested(InN(15))), "192.0.2.10"));
}

TEST_F(DiscoverTest, PreviousAddressBeforeRequestedAddress) {
  Acquire(1);
  EXPECT_EQ(Acquire(2), InN(11));
  Release(2, InN(11));
  EXPECT_TRUE(
      IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Requested(InN(15))), "192.0.2.11"));
}

TEST_F(DiscoverTest, RequestedAddressIfFree) {
  EXPECT_TRUE(
      IsOffer(Handle(ClientMessage(MessageType::kDiscover, 1).Requested(InN(19))), "192.0.2.19"));
  const struct {
    Ipv4Address requested;
    const char* why;
  } kRefused[] = {{InN(19), "offered to another"}, {InN(200), "outside the pool"},
                  {InR(10), "another network"},    {kServer, "the server's own"},
                  {Ipv4Address(), "zero"},         {kLimitedBroadcast, "broadcast"}};
  std::uint32_t client = 2;
  for (const auto& c : kRefused) {
    const Decision offer =
        Handle(ClientMessage(MessageType::kDiscover, client).Requested(c.requested));
    EXPECT_TRUE(IsOffer(offer, InN(8 + client).ToString())) << c.why;
    ++client;
  }
}

TEST_F(DiscoverTest, NeverUsedAddressesComeFirstThenTheLeastRecentlyUsed) {
  PoolOfN(10, 12);
  EXPECT_EQ(Acquire(1), InN(10));
  EXPECT_EQ(Acquire(2), InN(11));
  Release(2, InN(11));
  Release(1, InN(10));
  EXPECT_EQ(Acquire(3), InN(12));
  EXPECT_EQ(Acquire(4), InN(11));
  EXPECT_EQ(Acquire(5), InN(10));
}

TEST_F(DiscoverTest, AnOfferLapsesAfterTheHold) {
  PoolOfN(10, 10);
  Discover(1);
  Advance(29.9);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Advance(0.2);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(DiscoverTest, AFloodCostsThePoolNoMoreThanTheHold) {
  for (std::uint32_t c = 1; c <= 1000; ++c) Discover(c);
  EXPECT_TRUE(IsDrop(Discover(2000), DropReason::kPoolExhausted));
  Advance(30.1);
  EXPECT_TRUE(IsOffer(Discover(2000), "192.0.2.10"));
  EXPECT_EQ(CountsOf(1).offered, 1U);
}

TEST_F(DiscoverTest, WithoutATickTheLapsedOffersAreFoundWhenNoAddressIsLeft) {
  PoolOfN(10, 10);
  Discover(1);
  now.monotonic_ns += 31 * kNanosecondsPerSecond;
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(DiscoverTest, AClientThatTakesOthersOffersDoesNotWanderThroughThePool) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
    Advance(60);
  }
}

TEST_F(DiscoverTest, AnExpiredLeaseIsFreeAgain) {
  PoolOfN(10, 10);
  EXPECT_EQ(Acquire(1), InN(10));
  Advance(599);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Advance(1.1);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(DiscoverTest, NothingOfThePreviousHolderRemains) {
  PoolOfN(10, 10);
  Handle(ClientMessage(MessageType::kRequest, 1)
             .Server(kServer)
             .Requested(InN(10))
             .Option(OptionCode::kHostName, "first")
             .LeaseTime(3600));
  Release(1, InN(10));
  EXPECT_EQ(stored[InN(10)].host_name_length, 5);
  const Decision offer = Discover(2);
  EXPECT_EQ(offer.lease_time_s, 600U);
  EXPECT_EQ(offer.t1_s, 300U);
  Acquire(2);
  EXPECT_EQ(stored[InN(10)].host_name_length, 0);
  EXPECT_EQ(stored[InN(10)].relay_information_length, 0);
  EXPECT_EQ(stored[InN(10)].chaddr[5], 2);
}

// The identifier names the client, chaddr only without one (RFC 2131 section 4.2).
TEST_F(DiscoverTest, IdentifierDecidesWhoTheClientIs) {
  PoolOfN(10, 10);
  Handle(ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)).Id({1, 1}));
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kDiscover, 1).Id({1, 2})),
                     DropReason::kPoolExhausted));
  EXPECT_TRUE(IsDrop(Handle(ClientMessage(MessageType::kDiscover, 2).Id({1, 2})),
                     DropReason::kPoolExhausted));
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Id({1, 1})), "192.0.2.10"));
}

TEST_F(DiscoverTest, TooShortIdentifiersNameNobody) {
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 1).Id({})), "192.0.2.10"));
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Id({})), "192.0.2.11"));
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 3).Id({1})), "192.0.2.12"));
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 4).Id({1})), "192.0.2.13"));
}

TEST_F(DiscoverTest, InfiniBandClientsAreToldApartByIdentifier) {  // RFC 4390
  ClientMessage one(MessageType::kDiscover, 0);
  one.Hardware(32, {}).Id({0xFF, 0, 1});
  ClientMessage two(MessageType::kDiscover, 0);
  two.Hardware(32, {}).Id({0xFF, 0, 2});
  EXPECT_TRUE(IsOffer(Handle(one), "192.0.2.10"));
  EXPECT_TRUE(IsOffer(Handle(two), "192.0.2.11"));
}

TEST_F(DiscoverTest, WithoutAnyIdentityNothing) {
  ClientMessage nobody(MessageType::kDiscover, 0);
  nobody.Hardware(0, {});
  EXPECT_TRUE(IsDrop(Handle(nobody), DropReason::kNoIdentity));
  EXPECT_EQ(CountsOf(1).offered, 0U);
}

TEST_F(DiscoverTest, OddHardwareAddressesAreTaken) {
  ClientMessage odd(MessageType::kDiscover, 0);
  odd.Hardware(1, {0xFF, 1, 2, 3, 0xFF, 4});
  EXPECT_TRUE(IsOffer(Handle(odd), "192.0.2.10"));
}

TEST_F(DiscoverTest, CiaddrIsIgnored) {  // clients in the wild leave an old address in it
  EXPECT_TRUE(
      IsOffer(Handle(ClientMessage(MessageType::kDiscover, 1).Ciaddr(InR(14))), "192.0.2.10"));
  EXPECT_TRUE(IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Ciaddr(kLimitedBroadcast)),
                      "192.0.2.11"));
}

TEST_F(DiscoverTest, LeaseTimeIsWhatWasAskedForWithinBounds) {
  const struct {
    std::uint32_t asked, granted;
  } kCases[] = {{0, 60},
                {1, 60},
                {60, 60},
                {1000, 1000},
                {3600, 3600},
                {3601, 3600},
                {kInfiniteSeconds, 3600}};
  for (const auto& c : kCases) {
    const Decision offer = Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(c.asked));
    EXPECT_EQ(offer.lease_time_s, c.granted) << c.asked;
    EXPECT_LT(offer.t1_s, offer.t2_s);
    EXPECT_LT(offer.t2_s, offer.lease_time_s);
  }
}

TEST_F(DiscoverTest, TheOfferStatesWhatTheAckGrants) {
  const Decision offer = Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(900));
  const Decision ack = Handle(ClientMessage(MessageType::kRequest, 1)
                                  .Server(kServer)
                                  .Requested(offer.yiaddr)
                                  .LeaseTime(900));
  EXPECT_EQ(ack.lease_time_s, offer.lease_time_s);
  EXPECT_EQ(ack.t1_s, offer.t1_s);
  EXPECT_EQ(ack.t2_s, offer.t2_s);
}

TEST_F(DiscoverTest, VeryShortLeasesHaveOrderedTimersOrNone) {
  config.subnets[0].lease_times = {.min_s = 1, .default_s = 1, .max_s = 10, .t1 = 0.9, .t2 = 1.0};
  for (std::uint32_t s = 1; s <= 10; ++s) {
    const Decision offer = Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(s));
    EXPECT_EQ(offer.lease_time_s, s);
    if (offer.t1_s == 0) {
      EXPECT_EQ(offer.t2_s, 0U);
      EXPECT_LT(s, 3U);
    } else {
      EXPECT_LT(offer.t1_s, offer.t2_s);
      EXPECT_LT(offer.t2_s, s);
    }
  }
}

// RFC 2131 section 3.1 step 4: the ACK must not contradict the OFFER, which a client that repeats
// nothing but the address has taken as it was.
TEST_F(DiscoverTest, TheTimeOfferedIsTheTimeAcknowledged) {
  const auto discover = [this](std::uint32_t s) {
    return Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(s)).lease_time_s;
  };
  EXPECT_EQ(discover(900), 900U);
  const Decision ack = Select(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.lease_time_s, 900U);
  EXPECT_EQ(ack.mutation.expires_wall_s, now.wall_s + 900);
  EXPECT_EQ(Select(1, InN(10)).lease_time_s, 900U) << "the first ACK was lost";
  EXPECT_EQ(Renew(1, InN(10)).lease_time_s, 600U) << "not chosen from an offer";
  EXPECT_EQ(Reboot(1, InN(10)).lease_time_s, 600U);

  EXPECT_EQ(discover(1200), 1200U) << "of a client with a lease";
  EXPECT_EQ(Select(1, InN(10)).lease_time_s, 1200U);
  EXPECT_EQ(
      Handle(
          ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)).LeaseTime(700))
          .lease_time_s,
      700U)
      << "the REQUEST asks for another time";
  EXPECT_EQ(Discover(1).lease_time_s, 600U);
  EXPECT_EQ(Select(1, InN(10)).lease_time_s, 600U) << "the last offer counts";
}

TEST_F(DiscoverTest, TheTimeOfferedIsKeptAfterTheHold) {  // RFC 2131 section 3.1 step 4
  PoolOfN(10, 10);
  Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(900));
  Advance(31);
  EXPECT_EQ(CountsOf(1).offered, 0U);
  EXPECT_EQ(Select(1, InN(10)).lease_time_s, 900U);
}

TEST_F(DiscoverTest, TheTimeOfferedToOneClientIsNotThatOfAnother) {  // RFC 2131 section 3.1 step 4
  PoolOfN(10, 10);
  Handle(ClientMessage(MessageType::kDiscover, 1).LeaseTime(900));
  Advance(31);
  EXPECT_EQ(Select(2, InN(10)).lease_time_s, 600U);
}

TEST_F(DiscoverTest, InfiniteLeasesHaveInfiniteTimersAndNeverEnd) {  // RFC 2131 section 3.3
  PoolOfN(10, 10);
  config.subnets[0].lease_times.max_s = kInfiniteSeconds;
  const Decision ack = Handle(ClientMessage(MessageType::kRequest, 1)
                                  .Server(kServer)
                                  .Requested(InN(10))
                                  .LeaseTime(kInfiniteSeconds));
  EXPECT_EQ(ack.lease_time_s, kInfiniteSeconds);
  EXPECT_EQ(ack.t1_s, kInfiniteSeconds);
  EXPECT_EQ(ack.t2_s, kInfiniteSeconds);
  EXPECT_EQ(ack.mutation.expires_wall_s, kNeverExpires);
  Advance(1e9);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Crash();
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
}

}  // namespace
}  // namespace ringdhcp::test
