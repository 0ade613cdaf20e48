#include "storage/postgres/lag_clock.h"

#include "gtest/gtest.h"

namespace ringdhcp {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(LagClockTest, TellsTheAgeOfTheOldestThatWaits) {
  LagClock clock;
  EXPECT_EQ(clock.AgeNs(5 * kSecond), 0);
  clock.Appended(1, 10 * kSecond);
  clock.Appended(2, 12 * kSecond);
  EXPECT_EQ(clock.AgeNs(13 * kSecond), 3 * kSecond);
  clock.TakenThrough(1);
  EXPECT_EQ(clock.AgeNs(13 * kSecond), kSecond);
  clock.TakenThrough(2);
  EXPECT_EQ(clock.AgeNs(13 * kSecond), 0);
}

TEST(LagClockTest, OneSampleStandsForAllOfItsMoment) {
  LagClock clock;
  clock.Appended(1, 0);
  clock.Appended(9, LagClock::kSpacingNs / 2);
  clock.TakenThrough(8);
  EXPECT_EQ(clock.AgeNs(kSecond), kSecond) << "position 9 still waits";
  clock.TakenThrough(9);
  EXPECT_EQ(clock.AgeNs(kSecond), 0);
}

TEST(LagClockTest, ADayOfBacklogStaysBoundedAndItsAgeNearlyRight) {
  LagClock clock;
  constexpr std::int64_t kDay = 86400 * kSecond;
  std::uint64_t position = 0;
  for (std::int64_t now = 0; now <= kDay; now += kSecond) clock.Appended(++position, now);
  EXPECT_EQ(clock.AgeNs(kDay), kDay);
  // Half of it is taken: the rest is half a day old, give or take the spacing of the samples.
  clock.TakenThrough(position / 2);
  EXPECT_GE(clock.AgeNs(kDay), kDay / 2 - kSecond);
  EXPECT_LE(clock.AgeNs(kDay), kDay / 2 + kDay / 200);
}

}  // namespace
}  // namespace ringdhcp
