// What only the FakeRing can do: a kernel that fails on command.
#include "test/support/fake_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <vector>

namespace ringdhcp {
namespace {

using Kind = Completion::Kind;

class FakeRingTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ring_.Attach(kSlot, {}).ok()); }
  std::vector<Completion> Turn() {
    std::array<Completion, 64> out;
    const std::size_t n = ring_.Turn(out, 0);
    return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n)};
  }
  SendRequest Request(std::uint32_t slot) {
    SendRequest request;
    request.interface = kSlot;
    request.slot = SendSlotId(slot);
    request.payload = payload_;
    return request;
  }

  static constexpr InterfaceSlot kSlot{0};
  const std::vector<std::uint8_t> payload_ = {1, 2, 3};
  FakeRing ring_{{.interfaces_max = 2, .buffers_per_interface = 4, .socket_queue_max = 6}};
};

TEST_F(FakeRingTest, FailsAsManySendsAsToldThenGoesOn) {
  for (const int error : {EAGAIN, ENOBUFS, ENETDOWN}) {
    ring_.FailSends(kSlot, error, 2);
    for (std::uint32_t n = 0; n < 3; ++n) ring_.Send(Request(n));
    const auto sent = Turn();
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[0].error, error);
    EXPECT_EQ(sent[1].error, error);
    EXPECT_EQ(sent[2].error, 0);
    const auto left = ring_.TakeSent();
    ASSERT_EQ(left.size(), 1U) << "a send that failed does not leave";
    EXPECT_EQ(left[0].slot, SendSlotId(2));
    EXPECT_EQ(left[0].payload, payload_);
  }
}

TEST_F(FakeRingTest, HoldsSendsUntilReleased) {
  ring_.HoldSends(kSlot, true);
  ring_.Send(Request(0));
  EXPECT_TRUE(Turn().empty());
  EXPECT_EQ(ring_.sends_outstanding(), 1U);
  EXPECT_TRUE(ring_.TakeSent().empty());
  ring_.HoldSends(kSlot, false);
  EXPECT_EQ(Turn().size(), 1U);
  EXPECT_EQ(ring_.TakeSent().size(), 1U);
}

TEST_F(FakeRingTest, DetachReleasesHeldSendsBeforeKDetached) {
  ring_.HoldSends(kSlot, true);
  ring_.Send(Request(0));
  Turn();
  ring_.Detach(kSlot);
  const auto end = Turn();
  ASSERT_EQ(end.size(), 2U);
  EXPECT_EQ(end[0].kind, Kind::kSent);
  EXPECT_EQ(end[0].error, ECANCELED);
  EXPECT_EQ(end[1].kind, Kind::kDetached);
}

TEST_F(FakeRingTest, StopsTheReceiveOnCommand) {
  ring_.StopReceive(kSlot, EIO);
  const auto stop = Turn();
  ASSERT_EQ(stop.size(), 1U);
  EXPECT_EQ(stop[0].kind, Kind::kStopped);
  EXPECT_EQ(stop[0].error, EIO);
  EXPECT_FALSE(ring_.armed(kSlot));
  ring_.Arm(kSlot);
  EXPECT_TRUE(ring_.armed(kSlot));
}

TEST_F(FakeRingTest, DropsAndCountsWhatTheSocketCannotHold) {
  for (int n = 0; n < 6; ++n) EXPECT_TRUE(ring_.Inject(kSlot, {.payload = payload_}));
  EXPECT_FALSE(ring_.Inject(kSlot, {.payload = payload_}));
  EXPECT_EQ(ring_.receive_drops(kSlot), 1U);
  EXPECT_EQ(Turn().size(), 5U);  // four buffers and the stop
  EXPECT_EQ(ring_.buffers_outstanding(kSlot), 4U);
  EXPECT_EQ(ring_.waiting(kSlot), 2U);
}

TEST_F(FakeRingTest, OverwritesAReturnedBufferSoThatLateReadersShow) {
  ring_.Inject(kSlot, {.payload = payload_});
  const auto got = Turn();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].datagram.payload[0], 1);
  ring_.ReturnBuffer(kSlot, got[0].datagram.buffer);
  EXPECT_NE(got[0].datagram.payload[0], 1);
}

TEST_F(FakeRingTest, FailsAnAttachOnceAndKeepsTheSlot) {
  ring_.FailNextAttach(InterfaceSlot(1), absl::UnavailableError("no memory"));
  EXPECT_EQ(ring_.Attach(InterfaceSlot(1), {}).message(), "no memory");
  EXPECT_TRUE(ring_.Attach(InterfaceSlot(1), {}).ok());
}

TEST_F(FakeRingTest, NeverSleepsUnlessTold) {
  std::array<Completion, 1> out;
  EXPECT_EQ(ring_.Turn(out, -1), 0U);
  EXPECT_EQ(ring_.last_wait_ns(), -1);
}

using FakeRingDeathTest = FakeRingTest;

TEST_F(FakeRingDeathTest, CatchesACallerWhoBreaksTheRules) {
  ring_.Inject(kSlot, {.payload = payload_});
  const auto got = Turn();
  ring_.ReturnBuffer(kSlot, got[0].datagram.buffer);
  EXPECT_DEATH(ring_.ReturnBuffer(kSlot, got[0].datagram.buffer), "check failed") << "twice";
  EXPECT_DEATH(ring_.Arm(kSlot), "check failed") << "is armed";
  EXPECT_DEATH(ring_.Attach(kSlot, {}).IgnoreError(), "check failed") << "is attached";
  ring_.Send(Request(0));
  EXPECT_DEATH(ring_.Send(Request(0)), "check failed") << "the slot is with the ring";
}

}  // namespace
}  // namespace ringdhcp
