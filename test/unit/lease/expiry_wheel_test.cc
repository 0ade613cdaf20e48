#include "server/lease/expiry_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "server/base/clock.h"
#include "server/base/prng.h"
#include "test/support/client_message.h"

namespace ringdhcp::test {
namespace {

constexpr std::int64_t kTick = std::int64_t{1} << 24;
constexpr std::size_t kAnyMoves = 1'000'000;

class ExpiryWheelTest : public testing::Test {
 protected:
  void Start(std::uint32_t index, std::int64_t deadline_ns, std::int64_t now_ns) {
    table[index].deadline_ns = deadline_ns;
    wheel.Start(index, now_ns);
  }
  std::vector<std::uint32_t> TakeAll(std::int64_t now_ns) {
    std::vector<std::uint32_t> taken;
    std::size_t moves = kAnyMoves;
    while (true) {
      const std::uint32_t index = wheel.TakeDue(now_ns, moves);
      if (index == kNoLease) return taken;
      taken.push_back(index);
    }
  }

  std::vector<Subnet> subnets = [] {
    Subnet subnet;
    subnet.prefix = Prefix("10.0.0.0/16");
    subnet.pools = {{Address("10.0.1.0"), Address("10.0.10.255")}};
    return std::vector{subnet};
  }();
  LeaseTable table{subnets};
  ExpiryWheel wheel{table};
};

TEST_F(ExpiryWheelTest, NeverEarlyAndAtMostATickLate) {
  std::int64_t start = 123'456'789'012'345;
  for (const std::int64_t delay :
       {std::int64_t{1}, kTick - 1, kTick, 63 * kTick, 64 * kTick, 65 * kTick, 4095 * kTick,
        4096 * kTick, 3600 * kNanosecondsPerSecond, 86400 * kNanosecondsPerSecond,
        (std::int64_t{1} << 32) * kNanosecondsPerSecond}) {
    const std::int64_t deadline = start + delay;
    Start(0, deadline, start);
    EXPECT_TRUE(TakeAll(deadline - 1).empty()) << delay;
    EXPECT_EQ(TakeAll(deadline + kTick), std::vector<std::uint32_t>{0}) << delay;
    start = deadline + kTick;
  }
}

TEST_F(ExpiryWheelTest, WhatNeverEndsHasNoTimer) {
  Start(0, kNeverNs, 0);
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_EQ(table[0].timer_slot, 0);
  EXPECT_TRUE(TakeAll(kNeverNs - 1).empty());
}

TEST_F(ExpiryWheelTest, TheFarthestDeadlineThereIs) {
  Start(0, kNeverNs - 1, 5);
  EXPECT_TRUE(TakeAll(std::int64_t{1} << 61).empty());
  EXPECT_EQ(wheel.size(), 1U);
}

TEST_F(ExpiryWheelTest, AStoppedTimerDoesNotFire) {
  Start(0, 1000 * kTick, 0);
  Start(1, 1000 * kTick, 0);
  Start(2, 1000 * kTick, 0);
  wheel.Stop(1);
  wheel.Stop(1);
  EXPECT_EQ(TakeAll(2000 * kTick), (std::vector<std::uint32_t>{0, 2}));
}

TEST_F(ExpiryWheelTest, APastDeadlineFiresAtOnce) {
  Start(1, 500 * kTick, 0);
  EXPECT_TRUE(TakeAll(400 * kTick).empty());
  Start(0, 3 * kTick, 400 * kTick);
  EXPECT_EQ(TakeAll(400 * kTick), std::vector<std::uint32_t>{0});
}

TEST_F(ExpiryWheelTest, MovesAreBoundedAndNothingIsLost) {
  Start(2000, 1, 0);  // so that the wheel does not leap
  for (std::uint32_t i = 0; i < 1000; ++i) Start(i, 5000 * kTick + i, 0);
  std::set<std::uint32_t> taken;
  int calls = 0;
  while (wheel.size() > 0) {
    ASSERT_LT(++calls, 1000);
    std::size_t moves = 10;
    while (true) {
      const std::uint32_t index = wheel.TakeDue(5001 * kTick, moves);
      if (index == kNoLease) break;
      EXPECT_TRUE(taken.insert(index).second);
    }
  }
  EXPECT_EQ(taken.size(), 1001U);
  EXPECT_GT(calls, 100) << "ten moves a call";
}

TEST_F(ExpiryWheelTest, AgreesWithASortedSet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng prng(seed);
    ExpiryWheel fresh(table);
    std::set<std::pair<std::int64_t, std::uint32_t>> model;
    std::vector<std::int64_t> deadline(2000, 0);
    std::int64_t now = static_cast<std::int64_t>(prng.Next() >> 10);
    for (int step = 0; step < 5000; ++step) {
      const auto index = static_cast<std::uint32_t>(prng.Below(2000));
      if (deadline[index] != 0) {
        model.erase({deadline[index], index});
        fresh.Stop(index);
        deadline[index] = 0;
      } else {
        deadline[index] = now + static_cast<std::int64_t>(prng.Next() >> (10 + prng.Below(50)));
        model.insert({deadline[index], index});
        table[index].deadline_ns = deadline[index];
        fresh.Start(index, now);
      }
      if (prng.Below(10) != 0) continue;
      now += static_cast<std::int64_t>(prng.Next() >> (14 + prng.Below(45)));
      std::size_t moves = prng.Below(3) == 0 ? 3 : kAnyMoves;
      const bool bounded = moves != kAnyMoves;
      for (std::uint32_t due; (due = fresh.TakeDue(now, moves)) != kNoLease;) {
        EXPECT_LE(deadline[due], now);
        EXPECT_EQ(model.erase({deadline[due], due}), 1U);
        deadline[due] = 0;
      }
      if (!bounded && !model.empty()) {
        EXPECT_GT(model.begin()->first, now - kTick);
      }
      EXPECT_EQ(fresh.size(), model.size());
    }
    for (std::uint32_t i = 0; i < 2000; ++i) fresh.Stop(i);
  }
}

}  // namespace
}  // namespace ringdhcp::test
