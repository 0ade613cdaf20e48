// What leaves when: gates, pending rows, early renewals, a failing store, restarts.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

class GateTest : public EngineFixture {
 protected:
  GateTest() { hold_commits = true; }
};
using CacheTest = EngineFixture;
using FailingStoreTest = EngineFixture;
using RestartTest = EngineFixture;

TEST_F(GateTest, ARetransmissionWaitsForTheSameRow) {
  Discover(1);
  const Decision first = Select(1, InN(10));
  ASSERT_TRUE(first.has_mutation);
  now.monotonic_ns += 4 * kNanosecondsPerSecond;
  const Decision again = Select(1, InN(10));
  EXPECT_TRUE(IsAck(again, "192.0.2.10"));
  EXPECT_FALSE(again.has_mutation);
  EXPECT_EQ(again.gate, first.gate);
  EXPECT_EQ(again.lease_time_s, 596U) << "what is left of what is being stored";
  Commit();
  const Decision later = Select(1, InN(10));
  EXPECT_FALSE(later.has_mutation);
  EXPECT_EQ(later.gate, CommitSeq()) << "durable: nothing to wait for";
}

TEST_F(GateTest, ARetransmissionWaitsEvenWithoutTheCache) {
  config.cache_threshold = 0;
  Discover(1);
  const Decision first = Select(1, InN(10));
  EXPECT_EQ(Select(1, InN(10)).gate, first.gate);
  Commit();
  EXPECT_TRUE(Select(1, InN(10)).has_mutation) << "no cache: each REQUEST is a row";
}

TEST_F(GateTest, EachAckForAnAddressWaitsForItsOwnNewestRow) {
  PoolOfN(10, 10);
  const Decision first = Select(1, InN(10));
  const Decision released = Release(1, InN(10));
  ASSERT_TRUE(released.has_mutation);
  const Decision second = Select(2, InN(10));
  EXPECT_TRUE(IsAck(second, "192.0.2.10"));
  EXPECT_GT(second.gate, released.gate);
  EXPECT_GT(second.mutation.version, released.mutation.version);
  EXPECT_GT(released.mutation.version, first.mutation.version);
}

TEST_F(GateTest, AnOlderRowDoesNotOpenTheGateOfANewerOne) {
  const Decision first = Select(1, InN(10));
  Advance(400);
  const Decision second = Renew(1, InN(10));
  ASSERT_TRUE(second.has_mutation);
  // Only the first is durable.
  engine().OnDurable(std::span(&queued[0], 1), first.gate);
  EXPECT_EQ(Renew(1, InN(10)).gate, second.gate);
  engine().OnDurable(std::span(&queued[1], 1), second.gate);
  EXPECT_EQ(Renew(1, InN(10)).gate, CommitSeq());
}

TEST_F(CacheTest, AnEarlyRenewalGetsTheRemainingTimeWithoutAWrite) {
  Acquire(1);
  Advance(60);  // the threshold is a tenth of 600 s
  const Decision ack = Renew(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_FALSE(ack.has_mutation);
  EXPECT_EQ(ack.gate, CommitSeq());
  EXPECT_EQ(ack.lease_time_s, 540U);
  EXPECT_EQ(ack.t1_s, 270U);
  EXPECT_EQ(stored[InN(10)].version, 1U);
  Advance(1);
  EXPECT_TRUE(Renew(1, InN(10)).has_mutation);
}

TEST_F(CacheTest, ARemainingTimeNeverOutlivesTheLease) {
  Acquire(1);
  Advance(59.999);
  const Decision ack = Renew(1, InN(10));
  EXPECT_FALSE(ack.has_mutation);
  Advance(ack.lease_time_s);
  EXPECT_EQ(CountsOf(1).bound, 1U) << "a promise of " << ack.lease_time_s << " s";
  Advance(1);
  EXPECT_EQ(CountsOf(1).bound, 0U);
}

TEST_F(CacheTest, ChangedDataIsWritten) {
  const auto select = [] {
    return ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10));
  };
  Handle(select().Option(OptionCode::kHostName, "old"));
  EXPECT_FALSE(Handle(select().Option(OptionCode::kHostName, "old")).has_mutation);
  const Decision renamed = Handle(select().Option(OptionCode::kHostName, "new"));
  ASSERT_TRUE(renamed.has_mutation);
  EXPECT_TRUE(std::ranges::equal(renamed.mutation.HostName(), std::string_view("new")));
  EXPECT_TRUE(Handle(select()).has_mutation) << "a REQUEST that is no renewal has no name: gone";
  EXPECT_FALSE(Handle(select().Option(OptionCode::kHostName, "")).has_mutation)
      << "an empty name is none";
}

TEST_F(CacheTest, ARenewalKeepsTheNameAndTheRelayInformationItDoesNotRepeat) {
  const std::vector<std::uint8_t> circuit = {1, 2, 7, 0};
  Handle(ClientMessage(MessageType::kRequest, 1)
             .Relay(kRelayOfR)
             .Server(kServer)
             .Requested(InR(10))
             .Option(OptionCode::kHostName, "printer")
             .Option(OptionCode::kRelayAgentInformation, circuit));
  EXPECT_FALSE(Renew(1, InR(10)).has_mutation) << "nothing changed";
  Advance(300);
  const Decision renewed = Renew(1, InR(10));
  ASSERT_TRUE(renewed.has_mutation);
  EXPECT_TRUE(std::ranges::equal(renewed.mutation.HostName(), std::string_view("printer")));
  EXPECT_TRUE(std::ranges::equal(renewed.mutation.RelayInformation(), circuit));
}

TEST_F(CacheTest, AnotherLeaseTimeIsGranted) {
  Acquire(1);
  const Decision longer =
      Handle(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)).LeaseTime(3600));
  EXPECT_TRUE(longer.has_mutation);
  EXPECT_EQ(longer.lease_time_s, 3600U);
}

TEST_F(CacheTest, AnOfferKeepsALeaseThatIsAboutToEndButPromisesNothingByItself) {
  PoolOfN(10, 10);
  config.cache_threshold = 0.5;
  config.subnets[0].lease_times.min_s = 31;
  const auto select = [] {
    return ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)).LeaseTime(31);
  };
  Handle(select());
  Advance(29);
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
  Advance(5);  // the lease would be over
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  const Decision ack = Handle(select());
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_TRUE(ack.has_mutation) << "the stored lease ended before";
}

TEST_F(FailingStoreTest, OnlyDurableRenewalsOfAMinuteOrMoreAreAnswered) {
  Acquire(1);
  store_ok = false;
  Advance(300);
  const Decision ack = Renew(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_FALSE(ack.has_mutation);
  EXPECT_EQ(ack.gate, CommitSeq());
  EXPECT_EQ(ack.lease_time_s, 300U);
  EXPECT_TRUE(IsAck(Reboot(1, InN(10)), "192.0.2.10"));
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
  Advance(240);
  EXPECT_EQ(Renew(1, InN(10)).lease_time_s, 60U);
  Advance(1);
  EXPECT_TRUE(IsDrop(Renew(1, InN(10)), DropReason::kStoreUnavailable));
}

TEST_F(FailingStoreTest, NothingNewIsPromised) {
  Discover(1);
  Acquire(2);
  store_ok = false;
  EXPECT_TRUE(IsDrop(Select(1, InN(10)), DropReason::kStoreUnavailable));
  EXPECT_TRUE(IsDrop(Discover(3), DropReason::kStoreUnavailable));
  EXPECT_TRUE(IsDrop(Release(2, InN(11)), DropReason::kStoreUnavailable));
  EXPECT_TRUE(IsDrop(Decline(2, InN(11)), DropReason::kStoreUnavailable));
  EXPECT_TRUE(IsNak(Select(3, InN(11)))) << "a refusal needs no store";
  EXPECT_EQ(CountsOf(1).bound, 1U);
  store_ok = true;
  EXPECT_TRUE(IsAck(Select(1, InN(10)), "192.0.2.10"));
}

TEST_F(FailingStoreTest, ALeaseThatIsNotDurableYetPromisesNothing) {
  hold_commits = true;
  Select(1, InN(10));
  store_ok = false;
  EXPECT_TRUE(IsDrop(Select(1, InN(10)), DropReason::kStoreUnavailable));
}

TEST_F(FailingStoreTest, AnUndurableExtensionPromisesOnlyTheOldEnd) {
  Acquire(1);
  hold_commits = true;
  Advance(300);
  EXPECT_EQ(Renew(1, InN(10)).lease_time_s, 600U);
  store_ok = false;
  const Decision ack = Renew(1, InN(10));
  EXPECT_EQ(ack.lease_time_s, 300U);
  EXPECT_EQ(ack.gate, CommitSeq());
}

TEST_F(FailingStoreTest, AnOffersHoldIsNotDurable) {
  config.offer_hold_s = 120;
  hold_commits = true;
  Handle(ClientMessage(MessageType::kRequest, 1).Server(kServer).Requested(InN(10)).LeaseTime(100));
  Advance(10);
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
  Commit();
  Advance(5);
  store_ok = false;
  const Decision ack = Renew(1, InN(10));
  EXPECT_LE(ack.lease_time_s, 85U) << "the stored lease ends after 100 s";
}

TEST_F(RestartTest, ALeaseThatEndsInThisSecondMayStillRun) {
  Acquire(1);
  LeaseRecord row = stored[InN(10)];
  row.expires_wall_s = now.wall_s;
  LeaseEngine loaded(config, 1);
  loaded.Load(row, now);
  EXPECT_EQ(loaded.Counts()[0].bound, 1U);
  Now later{now.monotonic_ns + 2 * kNanosecondsPerSecond, now.wall_s + 2};
  EXPECT_EQ(loaded.Tick(later, 10), 1U);
  EXPECT_EQ(loaded.Counts()[0].bound, 0U);
}

TEST_F(RestartTest, AcknowledgedLeasesAreKnown) {
  Acquire(1);
  Acquire(2);
  Release(2, InN(11));
  Acquire(3);
  Decline(3, InN(12));
  Advance(100);
  Crash();
  const SubnetCounts counts = CountsOf(1);
  EXPECT_EQ(counts.bound, 1U);
  EXPECT_EQ(counts.declined, 1U);
  EXPECT_EQ(counts.free, 8U);
  EXPECT_EQ(counts.offered, 0U);
  const Decision ack = Renew(1, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.mutation.version, 2U) << "the version goes on";
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.11")) << "the released address is remembered";
  EXPECT_TRUE(IsNak(Select(4, InN(12))));
}

TEST_F(RestartTest, ExpiryContinuesFromTheWallClock) {
  PoolOfN(10, 10);
  Acquire(1);
  now.wall_s += 500;
  now.monotonic_ns = 77;  // another boot
  Crash();
  Advance(99);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Advance(2.1);  // a second more, since both ends were cut to whole seconds
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(RestartTest, WhatRanOutMeanwhileIsExpired) {
  Acquire(1);
  Acquire(2);
  Decline(2, InN(11));
  now.wall_s += 901;
  now.monotonic_ns += 901 * kNanosecondsPerSecond;
  Crash();
  EXPECT_EQ(CountsOf(1).free, 10U);
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10")) << "remembered";
  EXPECT_TRUE(IsAck(Reboot(1, InN(10)), "192.0.2.10")) << "and known";
}

TEST_F(RestartTest, ALapsedProbationNeedsNoRow) {
  Acquire(1);
  Decline(1, InN(10));
  const std::uint64_t version = stored[InN(10)].version;
  Advance(901);
  Crash();
  const Decision ack = Select(2, InN(10));
  EXPECT_TRUE(IsAck(ack, "192.0.2.10"));
  EXPECT_EQ(ack.mutation.version, version + 1);
}

TEST_F(RestartTest, RowsOutsideThePoolsAreRefused) {
  LeaseRecord row;
  row.state = LeaseState::kBound;
  row.version = 1;
  row.expires_wall_s = now.wall_s + 100;
  row.hlen = 6;
  for (const Ipv4Address address : {InN(9), InN(20), Address("203.0.113.9"), Ipv4Address()}) {
    row.address = address;
    EXPECT_FALSE(engine().Load(row, now)) << address.ToString();
  }
  row.address = InN(10);
  EXPECT_TRUE(engine().Load(row, now));
}

TEST_F(RestartTest, AMovedPoolMakesTheOldLeaseCountForNothing) {
  Acquire(1);
  PoolOfN(30, 39);
  config.subnets[0].authoritative = true;
  Crash();
  EXPECT_TRUE(IsNak(Reboot(1, InN(10))));
  EXPECT_EQ(Acquire(1), InN(30));
}

TEST_F(RestartTest, AnEmptyStoreGivesNoAckForARenewal) {
  Acquire(1);
  stored.clear();
  Crash();
  EXPECT_TRUE(IsDrop(Renew(1, InN(10)), DropReason::kUnknownClient));
}

TEST_F(RestartTest, OfTwoRowsOfOneClientTheNewestIsItsLease) {
  Acquire(1);
  LeaseRecord row = stored[InN(10)];
  row.address = InN(15);
  row.starts_wall_s += 10;
  row.expires_wall_s += 10;
  for (const bool newest_first : {false, true}) {
    LeaseEngine loaded(config, 1);
    ASSERT_TRUE(loaded.Load(newest_first ? row : stored[InN(10)], now));
    ASSERT_TRUE(loaded.Load(newest_first ? stored[InN(10)] : row, now));
    Decision decision;
    loaded.Handle(ClientMessage(MessageType::kDiscover, 1), link, now, true, decision);
    EXPECT_TRUE(IsOffer(decision, "192.0.2.15"));
    EXPECT_EQ(loaded.Counts()[0].bound, 2U) << "both were acknowledged and run";
    // The other one is still this client's and nobody else's.
    loaded.Handle(ClientMessage(MessageType::kRequest, 2).Server(kServer).Requested(InN(10)), link,
                  now, true, decision);
    EXPECT_TRUE(IsNak(decision));
    loaded.Handle(ClientMessage(MessageType::kRequest, 1).Ciaddr(InN(10)), link, now, true,
                  decision);
    EXPECT_TRUE(IsAck(decision, "192.0.2.10"));
  }
}

TEST_F(RestartTest, ARunningLeaseGoesBeforeAReleasedOne) {
  Acquire(1);
  LeaseRecord released = stored[InN(10)];
  released.address = InN(15);
  released.state = LeaseState::kReleased;
  released.starts_wall_s += 10;
  stored[InN(15)] = released;
  Crash();
  EXPECT_TRUE(IsOffer(Discover(1), "192.0.2.10"));
}

TEST_F(RestartTest, OfTwoRowsOfOneAddressTheLargerVersionHolds) {
  Acquire(1);
  LeaseRecord newer = stored[InN(10)];
  newer.version = 9;
  newer.state = LeaseState::kReleased;
  engine().Load(newer, now);
  EXPECT_EQ(CountsOf(1).bound, 0U);
  engine().Load(stored[InN(10)], now);
  EXPECT_EQ(CountsOf(1).bound, 0U) << "the older row changes nothing";
  EXPECT_EQ(CountsOf(1).free, 10U);
}

TEST_F(RestartTest, LongIdentifiersNameTheSameClientAfterwards) {
  for (const std::size_t size : {2U, 30U, 31U, 254U, 255U, 300U}) {
    const std::vector<std::uint8_t> id(size, static_cast<std::uint8_t>(size));
    const Decision offer = Handle(ClientMessage(MessageType::kDiscover, 1).Id(id));
    Handle(ClientMessage(MessageType::kRequest, 1).Id(id).Server(kServer).Requested(offer.yiaddr));
    Crash();
    EXPECT_TRUE(
        IsOffer(Handle(ClientMessage(MessageType::kDiscover, 2).Id(id)), offer.yiaddr.ToString()))
        << size;
  }
}

TEST_F(RestartTest, NameAndRelayInformationSurvive) {
  Handle(ClientMessage(MessageType::kRequest, 1)
             .Server(kServer)
             .Requested(InN(10))
             .Option(OptionCode::kHostName, "a\n# forged"));
  Crash();
  const Decision released = Release(1, InN(10));
  EXPECT_TRUE(std::ranges::equal(released.mutation.HostName(), std::string_view("a\n# forged")));
}

}  // namespace
}  // namespace ringdhcp::test
