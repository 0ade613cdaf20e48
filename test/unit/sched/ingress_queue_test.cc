#include "server/sched/ingress_queue.h"

#include <vector>

#include "gtest/gtest.h"

namespace ringdhcp {
namespace {

IngressPacket Packet(std::uint16_t id, bool is_discover) {
  IngressPacket packet;
  packet.buffer = BufferId(id);
  packet.is_discover = is_discover;
  packet.arrival_ns = id;
  return packet;
}

std::vector<int> PopAll(IngressQueue& queue) {
  std::vector<int> order;
  while (!queue.empty()) order.push_back(queue.Pop().buffer.value);
  return order;
}

TEST(IngressQueue, KeepsTheOrderOfArrivalWithoutOverload) {
  IngressQueue queue(16);
  for (std::uint16_t i = 0; i < 6; ++i) queue.Push(Packet(i, i % 2 == 0));
  EXPECT_FALSE(queue.overloaded());
  EXPECT_EQ(PopAll(queue), (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(IngressQueue, ServesRequestsBeforeDiscoversUnderOverload) {
  IngressQueue queue(8);
  for (std::uint16_t i = 0; i < 2; ++i) queue.Push(Packet(i, true));
  for (std::uint16_t i = 2; i < 4; ++i) queue.Push(Packet(i, false));
  EXPECT_TRUE(queue.overloaded());  // 4 of 8 buffers
  EXPECT_EQ(queue.Pop().buffer.value, 2);
  EXPECT_FALSE(queue.overloaded());  // from here on by arrival again
  EXPECT_EQ(PopAll(queue), (std::vector<int>{0, 1, 3}));
}

TEST(IngressQueue, DiscoversNeverHoldMoreThanHalfOfTheBuffers) {
  IngressQueue queue(8);
  std::vector<int> evicted;
  for (std::uint16_t i = 0; i < 7; ++i) {
    if (const auto old = queue.Push(Packet(i, true))) evicted.push_back(old->buffer.value);
  }
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(evicted, (std::vector<int>{0, 1, 2})) << "the oldest is nearest to its retransmission";
  for (std::uint16_t i = 10; i < 14; ++i) EXPECT_FALSE(queue.Push(Packet(i, false)));
  EXPECT_EQ(queue.size(), 8U);
  EXPECT_EQ(queue.Pop().buffer.value, 10);
}

}  // namespace
}  // namespace ringdhcp
