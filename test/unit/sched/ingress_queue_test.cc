#include "server/sched/ingress_queue.h"

#include <vector>

#include "gtest/gtest.h"

namespace ringdhcp {
namespace {

constexpr std::int64_t kAfter = 100;  // overload_after_ns

IngressPacket Packet(std::uint16_t id, bool is_discover, std::int64_t arrival_ns) {
  IngressPacket packet;
  packet.buffer = BufferId(id);
  packet.is_discover = is_discover;
  packet.arrival_ns = arrival_ns;
  return packet;
}

std::vector<int> PopAll(IngressQueue& queue, std::int64_t now_ns) {
  std::vector<int> order;
  while (!queue.empty()) order.push_back(queue.Pop(now_ns).buffer.value);
  return order;
}

TEST(IngressQueue, KeepsTheOrderOfArrivalWithoutOverload) {
  IngressQueue queue(16, kAfter);
  for (std::uint16_t i = 0; i < 6; ++i) queue.Push(Packet(i, i % 2 == 0, i));
  EXPECT_FALSE(queue.Overloaded(1000));
  EXPECT_EQ(PopAll(queue, 1000), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(IngressQueue, ABurstIsNoOverload) {
  IngressQueue queue(8, kAfter);
  for (std::uint16_t i = 0; i < 7; ++i) {
    EXPECT_FALSE(queue.Push(Packet(i, true, 0))) << "shed though it can be served in a moment";
  }
  queue.Push(Packet(7, false, 1));
  EXPECT_FALSE(queue.Overloaded(99));
  EXPECT_EQ(PopAll(queue, 99), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(IngressQueue, ServesRequestsBeforeDiscoversUnderOverload) {
  IngressQueue queue(8, kAfter);
  for (std::uint16_t i = 0; i < 2; ++i) queue.Push(Packet(i, true, 0));
  for (std::uint16_t i = 2; i < 4; ++i) queue.Push(Packet(i, false, 1));
  EXPECT_TRUE(queue.Overloaded(101));  // 4 of 8 buffers since 1
  EXPECT_EQ(queue.Pop(101).buffer.value, 2);
  EXPECT_FALSE(queue.Overloaded(101));  // from here on by arrival again
  EXPECT_EQ(PopAll(queue, 101), (std::vector<int>{0, 1, 3}));
}

TEST(IngressQueue, OverloadIsCountedAnewAfterItEnded) {
  IngressQueue queue(8, kAfter);
  for (std::uint16_t i = 0; i < 4; ++i) queue.Push(Packet(i, false, 0));
  EXPECT_TRUE(queue.Overloaded(100));
  queue.Pop(100);
  queue.Push(Packet(4, false, 100));
  EXPECT_FALSE(queue.Overloaded(199));
  EXPECT_TRUE(queue.Overloaded(200));
}

TEST(IngressQueue, DiscoversOfAnOverloadedQueueHoldNoMoreThanHalfOfTheBuffers) {
  IngressQueue queue(8, kAfter);
  std::vector<int> evicted;
  for (std::uint16_t i = 0; i < 4; ++i) queue.Push(Packet(i, true, 0));
  for (std::uint16_t i = 4; i < 7; ++i) {
    if (const auto old = queue.Push(Packet(i, true, kAfter))) evicted.push_back(old->buffer.value);
  }
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(evicted, (std::vector<int>{0, 1, 2})) << "the oldest is nearest to its retransmission";
  for (std::uint16_t i = 10; i < 14; ++i) EXPECT_FALSE(queue.Push(Packet(i, false, kAfter)));
  EXPECT_EQ(queue.size(), 8U);
  EXPECT_EQ(queue.Pop(kAfter).buffer.value, 10);
}

}  // namespace
}  // namespace ringdhcp
