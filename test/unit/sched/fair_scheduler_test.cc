#include "server/sched/fair_scheduler.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/prng.h"

namespace ringdhcp {
namespace {

std::vector<int> Take(FairScheduler& scheduler, std::size_t count) {
  std::vector<int> order;
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = scheduler.Next();
    order.push_back(next ? next->value : -1);
  }
  return order;
}

TEST(FairScheduler, IsIdleWithoutActiveInterfaces) {
  FairScheduler scheduler(4, 8);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(scheduler.Next(), std::nullopt);
  scheduler.Activate(InterfaceSlot(2));
  EXPECT_FALSE(scheduler.idle());
  scheduler.Deactivate(InterfaceSlot(2));
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(scheduler.Next(), std::nullopt);
}

TEST(FairScheduler, GivesEachBackloggedInterfaceItsQuantumInTurn) {
  FairScheduler scheduler(3, 2);
  for (std::uint16_t i = 0; i < 3; ++i) scheduler.Activate(InterfaceSlot(i));
  EXPECT_EQ(Take(scheduler, 9), (std::vector<int>{0, 0, 1, 1, 2, 2, 0, 0, 1}));
}

TEST(FairScheduler, ServesALoneInterfaceWithoutPause) {
  FairScheduler scheduler(3, 2);
  scheduler.Activate(InterfaceSlot(1));
  EXPECT_EQ(Take(scheduler, 7), (std::vector<int>{1, 1, 1, 1, 1, 1, 1}));
}

TEST(FairScheduler, ActivatingTwiceGivesNoSecondShare) {
  FairScheduler scheduler(2, 2);
  scheduler.Activate(InterfaceSlot(0));
  scheduler.Activate(InterfaceSlot(1));
  scheduler.Activate(InterfaceSlot(0));
  EXPECT_EQ(Take(scheduler, 6), (std::vector<int>{0, 0, 1, 1, 0, 0}));
}

TEST(FairScheduler, LeavingAndComingBackDoesNotJumpTheQueue) {
  FairScheduler scheduler(2, 4);
  scheduler.Activate(InterfaceSlot(0));
  scheduler.Activate(InterfaceSlot(1));
  // Interface 0 always has one packet only: it leaves after each and comes back at once.
  std::array<int, 2> served{};
  for (int i = 0; i < 1000; ++i) {
    const auto next = scheduler.Next();
    ASSERT_TRUE(next);
    ++served[next->value];
    if (next->value == 0) {
      scheduler.Deactivate(InterfaceSlot(0));
      scheduler.Activate(InterfaceSlot(0));
    }
  }
  // It may get less than its share, never more, and it is never starved.
  EXPECT_LE(served[0], 504);
  EXPECT_GE(served[0], 190);
}

// The promise: over any span, two interfaces that were backlogged throughout differ by at most one
// quantum, whatever the others do.
TEST(FairScheduler, BackloggedInterfacesStayWithinOneQuantum) {
  for (const std::uint32_t quantum : {1U, 4U, 8U, 64U}) {
    FairScheduler scheduler(8, quantum);
    Prng prng(quantum);
    std::array<std::int64_t, 8> served{};
    std::array<std::int64_t, 8> highest{};  // of served[i] - served[0]
    std::array<std::int64_t, 8> lowest{};
    for (std::uint16_t i = 0; i < 3; ++i) scheduler.Activate(InterfaceSlot(i));
    for (int step = 0; step < 20000; ++step) {
      const auto other = static_cast<std::uint16_t>(3 + prng.Below(5));
      if (prng.Below(2) == 0) {
        scheduler.Activate(InterfaceSlot(other));
      } else {
        scheduler.Deactivate(InterfaceSlot(other));
      }
      const auto next = scheduler.Next();
      ASSERT_TRUE(next);
      ++served[next->value];
      for (const int i : {1, 2}) {
        highest[i] = std::max(highest[i], served[i] - served[0]);
        lowest[i] = std::min(lowest[i], served[i] - served[0]);
      }
    }
    for (const int i : {1, 2}) {
      EXPECT_LE(highest[i] - lowest[i], quantum) << "interface " << i << ", quantum " << quantum;
    }
    for (int i = 3; i < 8; ++i) EXPECT_LE(served[i], served[0] + quantum) << "interface " << i;
  }
}

}  // namespace
}  // namespace ringdhcp
