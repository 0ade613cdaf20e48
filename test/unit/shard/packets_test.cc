// Packets on their way through a turn: order, shares, bounds, and that nothing gets lost.

#include <cerrno>

#include "server/base/prng.h"
#include "test/unit/shard/shard_fixture.h"

namespace ringdhcp::test {
namespace {

using PacketsTest = ShardFixture;

TEST_F(PacketsTest, AFloodedInterfaceDoesNotDelayAnother) {
  limits.batch_packets_max = 16;
  limits.quantum_packets = 4;
  Start();
  for (std::uint32_t client = 1; client <= 16; ++client) {
    Inject(0, ClientMessage(MessageType::kRequest, client).Requested(Address("192.0.2.50")));
  }
  Inject(1, ClientMessage(MessageType::kDiscover, 100));
  Turn(2);
  bool offered = false;
  for (const auto& sent : TakeSent()) offered |= sent.interface == InterfaceSlot(1);
  EXPECT_TRUE(offered) << "served in the first batch, whatever waits on the other interface";
}

TEST_F(PacketsTest, UnderOverloadRequestsGoBeforeDiscovers) {
  limits.batch_packets_max = 1;
  Start();
  store.automatic = true;
  for (std::uint32_t client = 1; client <= 10; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
  }
  Turn(2);
  TakeSent();
  Advance(20);
  Inject(0, ClientMessage(MessageType::kRequest, 50).Requested(Address("192.0.2.60")));
  Turn(2);
  const std::vector<FakeRing::Sent> sent = TakeSent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(TypeOf(sent[0]), MessageType::kOffer) << "made before";
  EXPECT_NE(TypeOf(sent[1]), MessageType::kOffer) << "the REQUEST came last and is served first";
}

TEST_F(PacketsTest, ShedsTheOldestDiscoversFirst) {
  limits.batch_packets_max = 1;
  Start();
  for (std::uint32_t client = 1; client <= 9; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
  }
  Turn();
  EXPECT_EQ(Drops(0, DropReason::kOverloadDiscover), 0U) << "a burst is no overload";
  Advance(20);
  for (std::uint32_t client = 10; client <= 13; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
  }
  Turn();
  // Half of the 16 buffers may hold DISCOVERs: 8 waited, 4 came.
  EXPECT_EQ(Drops(0, DropReason::kOverloadDiscover), 4U);
  Turn(12);
  EXPECT_EQ(TakeSent().size(), 9U);
}

TEST_F(PacketsTest, DropsWhatTheClientHasRetransmittedAlready) {
  limits.batch_packets_max = 1;
  config.stale_after_ms = 500;
  Start();
  Inject(0, ClientMessage(MessageType::kDiscover, 1));
  Inject(0, ClientMessage(MessageType::kDiscover, 2));
  Turn();
  Advance(501);
  Turn(3);
  EXPECT_EQ(Drops(0, DropReason::kStale), 1U);
  EXPECT_EQ(TakeSent().size(), 1U);
}

TEST_F(PacketsTest, CountsATruncatedDatagram) {
  Start();
  FakeRing::Datagram datagram;
  datagram.payload.assign(5000, 1);
  ASSERT_TRUE(ring_->Inject(InterfaceSlot(0), datagram));
  Turn(2);
  EXPECT_EQ(Drops(0, DropReason::kTruncated), 1U);
  EXPECT_EQ(ring_->buffers_outstanding(InterfaceSlot(0)), 0U);
}

// A datagram of length zero ends a multishot receive with success (io_uring, not an error).
TEST_F(PacketsTest, AZeroLengthDatagramDoesNotEndService) {
  Start();
  ASSERT_TRUE(ring_->Inject(InterfaceSlot(0), FakeRing::Datagram{}));
  Turn();
  EXPECT_EQ(Drops(0, DropReason::kTooShort), 1U);
  Turn(2);
  EXPECT_TRUE(ring_->armed(InterfaceSlot(0)));
  EXPECT_EQ(Metrics(0).receive_rearms.Get(), 1U);
  Inject(0, ClientMessage(MessageType::kDiscover, 1));
  Turn(3);
  EXPECT_EQ(TakeSent().size(), 1U);
}

TEST_F(PacketsTest, ArmsAgainOnceHalfOfTheBuffersAreFree) {
  limits.batch_packets_max = 1;
  Start();
  store.automatic = true;
  for (std::uint32_t client = 1; client <= 20; ++client) {
    Inject(0, ClientMessage(MessageType::kRequest, client).Requested(Address("192.0.2.50")));
  }
  Turn();
  EXPECT_EQ(Metrics(0).receive_buffers_empty.Get(), 1U);
  EXPECT_FALSE(ring_->armed(InterfaceSlot(0)));
  Turn(6);
  EXPECT_FALSE(ring_->armed(InterfaceSlot(0))) << "7 of 16 buffers are free";
  Turn(30);
  EXPECT_TRUE(ring_->armed(InterfaceSlot(0)));
  EXPECT_EQ(Received(0), 20U);
}

TEST_F(PacketsTest, WaitsAfterAReceiveThatEndedWithAnError) {
  Start();
  ring_->StopReceive(InterfaceSlot(0), ENETDOWN);
  Turn(3);
  EXPECT_FALSE(ring_->armed(InterfaceSlot(0))) << "it may end at once again: no busy loop";
  Advance(10);
  Turn();
  EXPECT_TRUE(ring_->armed(InterfaceSlot(0)));
}

TEST_F(PacketsTest, SendsAgainWhenTheKernelHadNoRoom) {
  Start();
  for (const int error : {EAGAIN, ENOBUFS}) {
    ring_->FailSends(InterfaceSlot(0), error);
    Inject(0, ClientMessage(MessageType::kDiscover, 1));
    Turn(4);
    EXPECT_TRUE(TakeSent().empty()) << "it pauses";
    Advance(2);
    Turn(2);
    EXPECT_EQ(TakeSent().size(), 1U) << "errno " << error;
  }
  EXPECT_EQ(Metrics(0).sends_deferred.Get(), 2U);
  EXPECT_EQ(AllDrops(0), 0U);
}

TEST_F(PacketsTest, CountsARefusedReply) {
  Start();
  ring_->FailSends(InterfaceSlot(0), ENETUNREACH);
  Inject(0, ClientMessage(MessageType::kDiscover, 1));
  Turn(4);
  EXPECT_EQ(Drops(0, DropReason::kSendFailed), 1U);
  EXPECT_EQ(Replies(0), 0U);
}

// An interface that drains nothing holds its own share of slots only, and the rest is counted.
TEST_F(PacketsTest, ACloggedInterfaceHoldsOnlyItsShare) {
  limits.batch_packets_max = 4;
  limits.egress_queue_max = 8;
  limits.egress_in_flight_max = 4;
  Start();
  ring_->HoldSends(InterfaceSlot(0), true);
  for (std::uint32_t client = 1; client <= 40; ++client) {
    Inject(0, ClientMessage(MessageType::kDiscover, client));
    Turn(2);
  }
  EXPECT_EQ(ring_->sends_outstanding(), 4U);
  EXPECT_EQ(Drops(0, DropReason::kEgressQueueFull), 28U);
  Inject(1, ClientMessage(MessageType::kDiscover, 100));
  Turn(2);
  EXPECT_EQ(TakeSent().size(), 1U) << "the other interface is served as ever";

  Advance(2000);
  Turn();
  EXPECT_EQ(Drops(0, DropReason::kEgressExpired), 8U) << "RFC 2131 4.1: the client retransmitted";
  ring_->HoldSends(InterfaceSlot(0), false);
  Turn(2);
  EXPECT_EQ(TakeSent().size(), 4U);
}

// Whatever happens, each datagram taken ends as one reply or one counted drop, every buffer goes
// back and every send ends.
TEST_F(PacketsTest, NothingGetsLost) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    limits.batch_packets_max = 8;
    limits.egress_queue_max = 12;
    limits.egress_in_flight_max = 4;
    limits.held_replies_max = 16;
    limits.commit_rows_max = 8;
    store = ManualStore();
    Start();
    Prng prng(seed);
    for (int step = 0; step < 2000; ++step) {
      const auto slot = InterfaceSlot(static_cast<std::uint16_t>(prng.Below(2)));
      const auto client = static_cast<std::uint32_t>(1 + prng.Below(60));
      const Ipv4Address any(ServerOf(slot.value).value +
                            static_cast<std::uint32_t>(prng.Below(220)));
      switch (prng.Below(10)) {
        case 0:
        case 1:
        case 2:
          ring_->Inject(slot, {.payload = ClientMessage(MessageType::kDiscover, client).Payload()});
          break;
        case 3:
        case 4:
          ring_->Inject(
              slot,
              {.payload = ClientMessage(MessageType::kRequest, client).Requested(any).Payload()});
          break;
        case 5:
          ring_->Inject(
              slot,
              {.payload = ClientMessage(MessageType::kRelease, client).Ciaddr(any).Payload()});
          break;
        case 6:
          ring_->Inject(slot, {.payload = std::vector<std::uint8_t>(prng.Below(300), 7)});
          break;
        case 7:
          ring_->FailSends(slot, prng.Below(2) == 0 ? EAGAIN : ENETDOWN);
          break;
        case 8:
          store.Finish(static_cast<BatchOutcome>(prng.Below(3)));
          break;
        default:
          Advance(static_cast<std::int64_t>(prng.Below(400)));
      }
      Turn();
    }
    for (int i = 0; i < 200; ++i) {  // heal
      store.Finish(BatchOutcome::kDurable);
      Advance(50);
      Turn();
    }
    for (const std::uint16_t link : {std::uint16_t{0}, std::uint16_t{1}}) {
      EXPECT_EQ(Received(link), Replies(link) + AllDrops(link)) << "link " << link;
      EXPECT_GT(Replies(link), 50U);
      EXPECT_EQ(ring_->buffers_outstanding(InterfaceSlot(link)), 0U);
    }
    EXPECT_EQ(ring_->sends_outstanding(), 0U);
    EXPECT_TRUE(shard->metrics().store_ok.load());
  }
}

}  // namespace
}  // namespace ringdhcp::test
