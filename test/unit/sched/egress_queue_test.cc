#include "server/sched/egress_queue.h"

#include "gtest/gtest.h"

namespace ringdhcp {
namespace {

TEST(EgressQueue, BoundsWhatIsWithTheKernel) {
  EgressQueue queue(8, 2);
  for (std::uint32_t i = 0; i < 4; ++i) queue.Push({SendSlotId(i), 100});
  EXPECT_EQ(queue.TakeReady(0)->slot.value, 0U);
  EXPECT_EQ(queue.TakeReady(0)->slot.value, 1U);
  EXPECT_FALSE(queue.TakeReady(0)) << "two are under way";
  EXPECT_TRUE(queue.Clogged(0));
  queue.OnSent();
  EXPECT_EQ(queue.TakeReady(0)->slot.value, 2U);
  EXPECT_EQ(queue.in_flight(), 2U);
  EXPECT_EQ(queue.waiting(), 1U);
}

TEST(EgressQueue, PausesAfterTheKernelHadNoRoom) {
  EgressQueue queue(8, 2);
  queue.Push({SendSlotId(0), 100});
  queue.Pause(50);
  EXPECT_TRUE(queue.Clogged(49));
  EXPECT_FALSE(queue.TakeReady(49));
  EXPECT_FALSE(queue.Clogged(50));
  EXPECT_TRUE(queue.TakeReady(50));
}

TEST(EgressQueue, GivesBackWhatWaitedTooLong) {
  EgressQueue queue(8, 2);
  queue.Push({SendSlotId(0), 100});
  queue.Push({SendSlotId(1), 200});
  EXPECT_FALSE(queue.TakeExpired(99));
  EXPECT_EQ(queue.TakeExpired(100)->slot.value, 0U);
  EXPECT_FALSE(queue.TakeExpired(100));
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.TakeAny()->slot.value, 1U);
  EXPECT_FALSE(queue.TakeAny());
  EXPECT_TRUE(queue.empty());
}

TEST(EgressQueue, IsFullAtItsBound) {
  EgressQueue queue(2, 2);
  queue.Push({SendSlotId(0), 1});
  EXPECT_FALSE(queue.full());
  queue.Push({SendSlotId(1), 1});
  EXPECT_TRUE(queue.full());
  EXPECT_DEATH(queue.Push({SendSlotId(2), 1}), "full");
  EgressQueue unsent(2, 2);
  EXPECT_DEATH(unsent.OnSent(), "in_flight_");
}

}  // namespace
}  // namespace ringdhcp
