#include <array>

#include "gtest/gtest.h"
#include "server/base/counter.h"
#include "server/base/ids.h"
#include "server/base/ipv4.h"
#include "server/base/ring_buffer.h"
#include "server/base/slot_pool.h"

namespace ringdhcp {
namespace {

TEST(Ipv4Address, ParsesFourDecimalPartsOnly) {
  EXPECT_EQ(Ipv4Address::Parse("192.0.2.1"), Ipv4Address(0xC0000201));
  EXPECT_EQ(Ipv4Address::Parse("0.0.0.0"), Ipv4Address(0));
  EXPECT_EQ(Ipv4Address::Parse("255.255.255.255"), kLimitedBroadcast);
  for (const char* bad :
       {"", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.04", "01.2.3.4", " 1.2.3.4", "1.2.3.4 ",
        "1..3.4", "1.2.3.4a", "0x1.2.3.4", "+1.2.3.4", "-1.2.3.4", "1.2.3.4294967296"}) {
    EXPECT_EQ(Ipv4Address::Parse(bad), std::nullopt) << '"' << bad << '"';
  }
}

TEST(Ipv4Address, WritesWhatItParses) {
  for (const char* text : {"0.0.0.0", "10.0.0.1", "192.0.2.255", "255.255.255.255"}) {
    EXPECT_EQ(Ipv4Address::Parse(text)->ToString(), text);
  }
}

TEST(Ipv4Address, KnowsWhatCanBeAHost) {
  for (const char* host : {"1.0.0.1", "10.0.0.1", "169.254.1.1", "223.255.255.254"}) {
    EXPECT_TRUE(Ipv4Address::Parse(host)->IsUnicastHost()) << host;
  }
  for (const char* other : {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "239.1.1.1",
                            "240.0.0.1", "255.255.255.255"}) {
    EXPECT_FALSE(Ipv4Address::Parse(other)->IsUnicastHost()) << other;
  }
}

TEST(Ipv4Prefix, RefusesHostBitsAndBadLengths) {
  EXPECT_EQ(Ipv4Prefix::Parse("192.0.2.0/24")->ToString(), "192.0.2.0/24");
  EXPECT_TRUE(Ipv4Prefix::Parse("0.0.0.0/0"));
  EXPECT_TRUE(Ipv4Prefix::Parse("192.0.2.1/32"));
  for (const char* bad : {"192.0.2.1/24", "192.0.2.0/33", "192.0.2.0/", "192.0.2.0", "192.0.2.0/-1",
                          "192.0.2.0/024", "192.0.2/24", "/24", ""}) {
    EXPECT_EQ(Ipv4Prefix::Parse(bad), std::nullopt) << '"' << bad << '"';
  }
}

TEST(Ipv4Prefix, ContainsAndOverlaps) {
  const Ipv4Prefix net = *Ipv4Prefix::Parse("192.0.2.128/25");
  EXPECT_TRUE(net.Contains(*Ipv4Address::Parse("192.0.2.128")));
  EXPECT_TRUE(net.Contains(*Ipv4Address::Parse("192.0.2.255")));
  EXPECT_FALSE(net.Contains(*Ipv4Address::Parse("192.0.2.127")));
  EXPECT_EQ(net.Broadcast().ToString(), "192.0.2.255");
  EXPECT_TRUE(net.Overlaps(*Ipv4Prefix::Parse("192.0.2.0/24")));
  EXPECT_TRUE(Ipv4Prefix::Parse("0.0.0.0/0")->Overlaps(net));
  EXPECT_FALSE(net.Overlaps(*Ipv4Prefix::Parse("192.0.2.0/25")));
}

TEST(RingBuffer, WrapsAroundInOrder) {
  RingBuffer<int> ring(3);
  for (int round = 0; round < 10; ++round) {
    ring.Push(3 * round);
    ring.Push(3 * round + 1);
    EXPECT_EQ(ring.Pop(), 3 * round);
    ring.Push(3 * round + 2);
    EXPECT_EQ(ring.Front(), 3 * round + 1);
    EXPECT_EQ(ring.Pop(), 3 * round + 1);
    EXPECT_EQ(ring.Pop(), 3 * round + 2);
    EXPECT_TRUE(ring.empty());
  }
  EXPECT_DEATH(ring.Pop(), "empty");
  for (int i = 0; i < 3; ++i) ring.Push(i);
  EXPECT_DEATH(ring.Push(3), "full");
}

TEST(SlotPool, HandsOutEachSlotOnceAndCatchesADoubleReturn) {
  SlotPool<SendSlotId, int> pool(4);
  std::array<bool, 4> seen{};
  for (int i = 0; i < 4; ++i) {
    const SendSlotId id = pool.Take();
    EXPECT_FALSE(seen[id.value]);
    seen[id.value] = true;
  }
  EXPECT_EQ(pool.free(), 0U);
  EXPECT_DEATH(pool.Take(), "empty");
  pool.Return(SendSlotId(2));
  EXPECT_DEATH(pool.Return(SendSlotId(2)), "used_");
  EXPECT_EQ(pool.Take().value, 2U) << "the last returned is the next out";
}

TEST(DurationHistogram, PutsEachDurationUnderItsBound) {
  DurationHistogram histogram;
  histogram.Record(-5);         // counts as 0
  histogram.Record(1'000);      // 1 us: bucket 0, inclusive
  histogram.Record(1'001);      // above 1 us: bucket 1
  histogram.Record(2'000'000);  // 2 ms <= 2.048 ms: bucket 11
  histogram.Record(60LL * 1'000'000'000);
  EXPECT_EQ(histogram.Count(0), 2U);
  EXPECT_EQ(histogram.Count(1), 1U);
  EXPECT_EQ(histogram.Count(11), 1U);
  EXPECT_EQ(histogram.Count(DurationHistogram::kBuckets), 1U);
  EXPECT_DOUBLE_EQ(DurationHistogram::UpperBoundSeconds(11), 2048e-6);
  EXPECT_NEAR(histogram.SumSeconds(), 60.002002001, 1e-9);
}

}  // namespace
}  // namespace ringdhcp
