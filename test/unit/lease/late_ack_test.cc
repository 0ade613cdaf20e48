// An ACK may leave seconds after it was decided, since it waits for its commit and its interface;
// clients that count their lease from the ACK (RFC 2131 section 4.4.1 counts from the REQUEST) then
// have it for longer than the server does.
#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

class LateAckTest : public EngineFixture {
 protected:
  LateAckTest() {
    config.reply_delay_max_ns = 5 * kNanosecondsPerSecond;
    PoolOfN(10, 10);
  }
};

TEST_F(LateAckTest, NobodyElseGetsTheAddressUntilTheLatestAckIsOver) {
  Acquire(1);
  Advance(604.9);
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  EXPECT_TRUE(IsNak(Select(2, InN(10))));
  EXPECT_EQ(CountsOf(1).bound, 1U);
  Advance(0.2);
  EXPECT_EQ(CountsOf(1).bound, 0U);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(LateAckTest, WithoutATickToo) {
  Acquire(1);
  now.monotonic_ns += 604 * kNanosecondsPerSecond;
  EXPECT_TRUE(IsNak(Select(2, InN(10))));
  now.monotonic_ns += 2 * kNanosecondsPerSecond;
  EXPECT_TRUE(IsAck(Select(2, InN(10)), "192.0.2.10"));
}

TEST_F(LateAckTest, TheHolderIsPromisedNoneOfThatTime) {
  config.cache_threshold = 0.5;
  Acquire(1);
  Advance(60);
  EXPECT_EQ(Renew(1, InN(10)).lease_time_s, 540U);
  Advance(542);
  store_ok = false;
  EXPECT_TRUE(IsDrop(Renew(1, InN(10)), DropReason::kStoreUnavailable));
  store_ok = true;
  EXPECT_EQ(Renew(1, InN(10)).lease_time_s, 600U);
}

TEST_F(LateAckTest, AfterARestartToo) {
  Acquire(1);
  Advance(602);
  Crash();
  EXPECT_TRUE(IsDrop(Discover(2), DropReason::kPoolExhausted));
  Advance(5);
  EXPECT_TRUE(IsOffer(Discover(2), "192.0.2.10"));
}

TEST_F(LateAckTest, OffersAndProbationsEndOnTime) {
  Discover(1);
  Advance(30.1);
  EXPECT_EQ(CountsOf(1).offered, 0U);
  Acquire(1);
  Decline(1, InN(10));
  Advance(900.1);
  EXPECT_EQ(CountsOf(1).declined, 0U);
}

}  // namespace
}  // namespace ringdhcp::test
