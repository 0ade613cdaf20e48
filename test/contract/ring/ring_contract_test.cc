// What the shard may rely on of a Ring, asked of io_uring over real sockets and of the FakeRing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "test/contract/ring/ring_world.h"

namespace ringdhcp {
namespace {

using Kind = Completion::Kind;
using Bytes = std::vector<std::uint8_t>;
constexpr std::int64_t kMillisecond = 1'000'000;

Bytes Text(const std::string& text) { return Bytes(text.begin(), text.end()); }

InterfaceSlot Slot(std::size_t interface) {
  return InterfaceSlot(static_cast<std::uint16_t>(interface));
}

struct Backend {
  const char* name;
  std::unique_ptr<RingWorld> (*make)();
};
void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

class RingContract : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    for (std::size_t i = 0; i < kWorldInterfaces; ++i) {
      const absl::Status status = world_->Attach(i);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  Ring& ring() { return world_->ring(); }

  /// Turns until `count` completions have come, and gives up after a few seconds. Payloads are
  /// copied aside, because a returned buffer may be filled again.
  std::vector<Completion> Collect(std::size_t count, std::size_t out_size = 64) {
    std::vector<Completion> all;
    std::vector<Completion> out(out_size);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    while (all.size() < count && std::chrono::steady_clock::now() < deadline) {
      const std::size_t n = ring().Turn(out, 20 * kMillisecond);
      EXPECT_LE(n, out.size());
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
    }
    return all;
  }
  /// What comes within a short while, where nothing more should.
  std::vector<Completion> Rest() {
    std::vector<Completion> all;
    std::array<Completion, 64> out;
    for (int i = 0; i < 5; ++i) {
      const std::size_t n = ring().Turn(out, 20 * kMillisecond);
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
    }
    return all;
  }

  static Bytes Payload(const Completion& completion) {
    return Bytes(completion.datagram.payload.begin(), completion.datagram.payload.end());
  }

  void ExpectReceived(const Completion& completion, std::size_t interface, const Bytes& payload) {
    ASSERT_EQ(completion.kind, Kind::kReceived);
    EXPECT_EQ(completion.interface, Slot(interface));
    EXPECT_EQ(Payload(completion), payload);
  }

  SendRequest Reply(std::size_t interface, std::uint32_t slot, const Bytes& payload) {
    SendRequest request;
    request.interface = Slot(interface);
    request.slot = SendSlotId(slot);
    request.payload = payload;
    request.source = RingWorld::ServerAddress(interface);
    request.destination = RingWorld::ClientAddress(interface);
    request.destination_port = 68;
    return request;
  }

  std::unique_ptr<RingWorld> world_;
};

INSTANTIATE_TEST_SUITE_P(, RingContract,
                         testing::Values(Backend{"Uring", MakeUringWorld},
                                         Backend{"Fake", MakeFakeWorld}),
                         [](const auto& backend) { return std::string(backend.param.name); });

TEST_P(RingContract, ReceivesABroadcastWithItsMetadata) {
  world_->ClientSends(0, Text("discover"), kLimitedBroadcast);
  const auto got = Collect(1);
  ASSERT_EQ(got.size(), 1U);
  ExpectReceived(got[0], 0, Text("discover"));
  EXPECT_EQ(got[0].datagram.source, RingWorld::ClientAddress(0));
  EXPECT_EQ(got[0].datagram.source_port, 68);
  EXPECT_EQ(got[0].datagram.destination, kLimitedBroadcast);
  EXPECT_EQ(got[0].datagram.local, RingWorld::ServerAddress(0));
  EXPECT_FALSE(got[0].datagram.truncated);
  EXPECT_EQ(ring().FreeBuffers(Slot(0)), kWorldBuffers - 1);
  ring().ReturnBuffer(Slot(0), got[0].datagram.buffer);
  EXPECT_EQ(ring().FreeBuffers(Slot(0)), kWorldBuffers);
}

TEST_P(RingContract, ReceivesAUnicastWithItsMetadata) {
  world_->ClientSends(1, Text("renew"), RingWorld::ServerAddress(1));
  const auto got = Collect(1);
  ASSERT_EQ(got.size(), 1U);
  ExpectReceived(got[0], 1, Text("renew"));
  EXPECT_EQ(got[0].datagram.destination, RingWorld::ServerAddress(1));
  EXPECT_EQ(got[0].datagram.local, RingWorld::ServerAddress(1));
}

TEST_P(RingContract, SendsUnicastAndBroadcastFromTheGivenSource) {
  const Bytes ack = Text("ack"), nak = Text("nak");
  ring().Send(Reply(0, 3, ack));
  SendRequest broadcast = Reply(1, 4, nak);
  broadcast.destination = kLimitedBroadcast;
  ring().Send(broadcast);
  const auto sent = Collect(2);
  ASSERT_EQ(sent.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sent[i].kind, Kind::kSent);
    EXPECT_EQ(sent[i].error, 0);
    EXPECT_EQ(sent[i].interface, Slot(i));
    EXPECT_EQ(sent[i].slot, SendSlotId(static_cast<std::uint32_t>(3 + i)));
  }
  const auto first = world_->ClientReceives(0), second = world_->ClientReceives(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->payload, ack);
  EXPECT_EQ(first->source, RingWorld::ServerAddress(0));
  EXPECT_EQ(first->destination, RingWorld::ClientAddress(0));
  EXPECT_EQ(first->source_port, 67) << "RFC 2131 section 4.1";
  EXPECT_EQ(second->payload, nak);
  EXPECT_EQ(second->source, RingWorld::ServerAddress(1));
  EXPECT_EQ(second->destination, kLimitedBroadcast);
}

TEST_P(RingContract, SendsAFrameToAClientWithoutAnAddress) {
  // RFC 2131 section 4.1: unicast to yiaddr and chaddr, before the client can answer ARP. An odd
  // length, so that the checksum is padded.
  const Bytes offer = Text("offer of odd length");
  ASSERT_EQ(offer.size() % 2, 1U);
  SendRequest request = Reply(0, 0, offer);
  request.destination = Ipv4Address(0x0A000063);  // nobody has it
  request.link_layer = true;
  request.hardware_address = {0x02, 0, 0, 0xAB, 0xCD, 0xEF};
  ring().Send(request);
  const auto sent = Collect(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].error, 0);
  const auto frame = world_->ClientReceives(0);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload, offer);
  EXPECT_EQ(frame->destination_hardware_address, request.hardware_address);
  EXPECT_EQ(frame->source, RingWorld::ServerAddress(0));
  EXPECT_EQ(frame->destination, request.destination);
  EXPECT_EQ(frame->source_port, 67);
  EXPECT_TRUE(frame->ip_checksum_right) << "RFC 791 section 3.1";
  EXPECT_TRUE(frame->udp_checksum_right) << "RFC 768";
}

TEST_P(RingContract, ADatagramOfLengthZeroStopsWithSuccessAndArmGoesOn) {
  world_->ClientSends(0, {}, kLimitedBroadcast);
  const auto got = Collect(2);
  ASSERT_EQ(got.size(), 2U);
  ExpectReceived(got[0], 0, {});
  EXPECT_EQ(got[1].kind, Kind::kStopped);
  EXPECT_EQ(got[1].interface, Slot(0));
  EXPECT_EQ(got[1].error, 0);
  ring().ReturnBuffer(Slot(0), got[0].datagram.buffer);
  world_->ClientSends(0, Text("waits"), kLimitedBroadcast);
  EXPECT_TRUE(Rest().empty()) << "a stopped receive must not go on by itself";
  ring().Arm(Slot(0));
  const auto next = Collect(1);
  ASSERT_EQ(next.size(), 1U);
  ExpectReceived(next[0], 0, Text("waits"));
}

TEST_P(RingContract, TwoCompletionsOfOneEventFitIntoAnOutputOfOne) {
  world_->ClientSends(0, {}, kLimitedBroadcast);
  world_->ClientSends(1, Text("other"), kLimitedBroadcast);
  const auto got = Collect(3, /*out_size=*/1);
  ASSERT_EQ(got.size(), 3U);
  std::vector<Kind> of_first;
  for (const Completion& completion : got) {
    if (completion.interface == Slot(0)) of_first.push_back(completion.kind);
  }
  EXPECT_EQ(of_first, (std::vector<Kind>{Kind::kReceived, Kind::kStopped}));
}

TEST_P(RingContract, ALongDatagramIsCutAndMarked) {
  Bytes longest(65507);
  for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = static_cast<std::uint8_t>(i * 7);
  world_->ClientSends(0, longest, RingWorld::ServerAddress(0));
  const Bytes exact(kWorldPayloadMax, 0x5A);
  world_->ClientSends(0, exact, RingWorld::ServerAddress(0));
  const auto got = Collect(2);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_TRUE(got[0].datagram.truncated);
  ExpectReceived(got[0], 0, Bytes(longest.begin(), longest.begin() + kWorldPayloadMax));
  EXPECT_FALSE(got[1].datagram.truncated);
  ExpectReceived(got[1], 0, exact);
}

TEST_P(RingContract, RunsOutOfBuffersAndGoesOnAfterReturn) {
  for (std::uint8_t n = 0; n < kWorldBuffers + 5; ++n) {
    world_->ClientSends(0, {n}, kLimitedBroadcast);
  }
  const auto got = Collect(kWorldBuffers + 1);
  ASSERT_EQ(got.size(), kWorldBuffers + 1);
  for (std::uint8_t n = 0; n < kWorldBuffers; ++n) ExpectReceived(got[n], 0, {n});
  EXPECT_EQ(got.back().kind, Kind::kStopped);
  EXPECT_EQ(got.back().error, ENOBUFS);
  EXPECT_EQ(ring().FreeBuffers(Slot(0)), 0U);
  EXPECT_TRUE(Rest().empty());
  for (std::uint8_t n = 0; n < kWorldBuffers; ++n) {
    ExpectReceived(got[n], 0, {n});  // untouched until it is returned
    ring().ReturnBuffer(Slot(0), got[n].datagram.buffer);
  }
  ring().Arm(Slot(0));
  const auto rest = Collect(5);
  ASSERT_EQ(rest.size(), 5U);
  for (std::uint8_t n = 0; n < 5; ++n) {
    ExpectReceived(rest[n], 0, {static_cast<std::uint8_t>(kWorldBuffers + n)});
  }
}

TEST_P(RingContract, KeepsTheOrderOfHundredsOfDatagrams) {
  constexpr std::size_t kCount = 400;
  std::vector<std::size_t> order;
  std::size_t sent = 0;
  std::array<Completion, 7> out;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (order.size() < kCount && std::chrono::steady_clock::now() < deadline) {
    for (int burst = 0; burst < 50 && sent < kCount; ++burst, ++sent) {
      world_->ClientSends(0,
                          {static_cast<std::uint8_t>(sent >> 8), static_cast<std::uint8_t>(sent)},
                          kLimitedBroadcast);
    }
    const std::size_t n = ring().Turn(out, 20 * kMillisecond);
    for (std::size_t i = 0; i < n; ++i) {
      if (out[i].kind == Kind::kStopped) {
        EXPECT_EQ(out[i].error, ENOBUFS);
        ring().Arm(Slot(0));
        continue;
      }
      ASSERT_EQ(out[i].kind, Kind::kReceived);
      const Bytes payload = Payload(out[i]);
      ASSERT_EQ(payload.size(), 2U);
      order.push_back(static_cast<std::size_t>(payload[0] << 8 | payload[1]));
      ring().ReturnBuffer(Slot(0), out[i].datagram.buffer);
    }
  }
  ASSERT_EQ(order.size(), kCount);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(std::ranges::adjacent_find(order), order.end()) << "a datagram came twice";
}

TEST_P(RingContract, MoreSendsThanTheSubmissionQueueHolds) {
  const Bytes payload = Text("x");
  for (std::uint32_t n = 0; n < kWorldSendSlots; ++n) ring().Send(Reply(n % 2, n, payload));
  std::vector<bool> seen(kWorldSendSlots);
  for (const Completion& completion : Collect(kWorldSendSlots)) {
    ASSERT_EQ(completion.kind, Kind::kSent);
    EXPECT_EQ(completion.error, 0);
    EXPECT_FALSE(seen[completion.slot.value]);
    seen[completion.slot.value] = true;
  }
  EXPECT_EQ(std::ranges::count(seen, true), static_cast<std::ptrdiff_t>(kWorldSendSlots));
  ring().Send(Reply(0, 0, payload));  // a slot is free again after its kSent
  EXPECT_EQ(Collect(1).size(), 1U);
}

TEST_P(RingContract, WakeEndsATurnThatWaitsWithoutLimit) {
  std::thread waker([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ring().Wake();
  });
  std::array<Completion, 4> out;
  std::size_t n = 0;
  while (n == 0) n = ring().Turn(out, -1);
  waker.join();
  ASSERT_EQ(n, 1U);
  EXPECT_EQ(out[0].kind, Kind::kWake);
  for (int i = 0; i < 5; ++i) ring().Wake();  // before the Turn; they may melt into one
  const auto again = Collect(1);
  ASSERT_GE(again.size(), 1U);
  EXPECT_EQ(again[0].kind, Kind::kWake);
  EXPECT_TRUE(Rest().empty());
}

TEST_P(RingContract, TurnWaitsAsLongAsItWasToldAndNoLonger) {
  std::array<Completion, 4> out;
  Rest();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(ring().Turn(out, 0), 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  EXPECT_EQ(ring().Turn(out, 60 * kMillisecond), 0U);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(55));
}

TEST_P(RingContract, DetachWithBuffersOutstandingAndAttachAgain) {
  for (std::uint8_t n = 0; n < 3; ++n) world_->ClientSends(0, {n}, kLimitedBroadcast);
  const auto got = Collect(3);
  ASSERT_EQ(got.size(), 3U);
  const Bytes last_words = Text("last words");
  ring().Send(Reply(0, 9, last_words));
  ring().Detach(Slot(0));
  ring().ReturnBuffer(Slot(0), got[0].datagram.buffer);
  ring().Arm(Slot(0));  // without effect now
  const auto end = Collect(2);
  ASSERT_EQ(end.size(), 2U);
  EXPECT_EQ(end[0].kind, Kind::kSent) << "completions under way come first";
  EXPECT_EQ(end[0].slot, SendSlotId(9));
  EXPECT_EQ(end[1].kind, Kind::kDetached);
  EXPECT_EQ(end[1].interface, Slot(0));
  EXPECT_EQ(ring().FreeBuffers(Slot(0)), 0U);
  EXPECT_TRUE(Rest().empty()) << "kDetached comes once and last";
  for (int round = 0; round < 3; ++round) {
    const absl::Status status = world_->Attach(0);
    ASSERT_TRUE(status.ok()) << "the sockets of the first time must be closed: " << status;
    EXPECT_EQ(ring().FreeBuffers(Slot(0)), kWorldBuffers);
    world_->ClientSends(0, Text("again"), kLimitedBroadcast);
    const auto again = Collect(1);
    ASSERT_EQ(again.size(), 1U);
    ExpectReceived(again[0], 0, Text("again"));
    ring().Detach(Slot(0));
    const auto detached = Collect(1);
    ASSERT_EQ(detached.size(), 1U);
    EXPECT_EQ(detached[0].kind, Kind::kDetached);
  }
}

// The interface of a busy network goes: its last datagrams and its end come in one batch, and the
// caller gives their buffers back on its way to the end.
TEST_P(RingContract, BuffersOfTheBatchThatEndsWithDetachedCanBeReturned) {
  for (std::uint8_t n = 0; n < 3; ++n) world_->ClientSends(0, {n}, kLimitedBroadcast);
  ring().Detach(Slot(0));
  std::array<Completion, 64> out;
  bool detached = false;
  for (int turn = 0; turn < 20 && !detached; ++turn) {
    const std::size_t count = ring().Turn(out, 50 * kMillisecond);
    for (std::size_t n = 0; n < count; ++n) {
      if (out[n].kind == Kind::kReceived) ring().ReturnBuffer(Slot(0), out[n].datagram.buffer);
      detached = detached || out[n].kind == Kind::kDetached;
    }
  }
  EXPECT_TRUE(detached);
  ASSERT_TRUE(world_->Attach(0).ok());
  EXPECT_EQ(ring().FreeBuffers(Slot(0)), kWorldBuffers);
}

TEST_P(RingContract, DetachAfterAStopThatWasNotSeenYetGivesNoStop) {
  world_->ClientSends(0, {}, kLimitedBroadcast);
  const auto got = Collect(1, /*out_size=*/1);
  ASSERT_EQ(got.size(), 1U);
  ASSERT_EQ(got[0].kind, Kind::kReceived);
  ring().Detach(Slot(0));
  const auto end = Collect(1, /*out_size=*/1);
  ASSERT_EQ(end.size(), 1U);
  EXPECT_EQ(end[0].kind, Kind::kDetached);
}

TEST_P(RingContract, ASendOnADetachedInterfaceFailsAndGivesItsSlotBack) {
  ring().Detach(Slot(0));
  Collect(1);
  const Bytes payload = Text("late");
  for (int i = 0; i < 2; ++i) {
    ring().Send(Reply(0, 5, payload));
    const auto sent = Collect(1);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].kind, Kind::kSent);
    EXPECT_EQ(sent[0].slot, SendSlotId(5));
    EXPECT_EQ(sent[0].error, ENODEV);
  }
}

TEST_P(RingContract, ALinkThatIsDownFailsFrames) {
  world_->SetLinkDown(0);
  const Bytes payload = Text("offer");
  SendRequest request = Reply(0, 0, payload);
  request.link_layer = true;
  ring().Send(request);
  const auto sent = Collect(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].kind, Kind::kSent);
  EXPECT_EQ(sent[0].error, ENETDOWN);
}

TEST_P(RingContract, ADeletedInterfaceFailsItsSendsAndCanBeDetached) {
  world_->DeleteInterface(0);
  const Bytes payload = Text("ack");
  ring().Send(Reply(0, 0, payload));
  SendRequest frame = Reply(0, 1, payload);
  frame.link_layer = true;
  ring().Send(frame);
  const auto sent = Collect(2);
  ASSERT_EQ(sent.size(), 2U);
  for (const Completion& completion : sent) {
    EXPECT_EQ(completion.kind, Kind::kSent);
    EXPECT_NE(completion.error, 0);
  }
  ring().Detach(Slot(0));
  const auto end = Collect(1);
  ASSERT_EQ(end.size(), 1U);
  EXPECT_EQ(end[0].kind, Kind::kDetached);
  world_->ClientSends(1, Text("alive"), kLimitedBroadcast);
  const auto other = Collect(1);
  ASSERT_EQ(other.size(), 1U);
  ExpectReceived(other[0], 1, Text("alive"));
}

TEST_P(RingContract, AnInterfaceWithoutBuffersDoesNotDisturbTheOther) {
  for (std::uint8_t n = 0; n < kWorldBuffers + 1; ++n) {
    world_->ClientSends(0, {n}, kLimitedBroadcast);
  }
  ASSERT_EQ(Collect(kWorldBuffers + 1).size(), kWorldBuffers + 1);
  EXPECT_EQ(ring().FreeBuffers(Slot(1)), kWorldBuffers);
  for (std::uint8_t n = 0; n < 3 * kWorldBuffers; ++n) {
    world_->ClientSends(1, {n}, kLimitedBroadcast);
    const auto got = Collect(1);
    ASSERT_EQ(got.size(), 1U);
    ExpectReceived(got[0], 1, {n});
    ring().ReturnBuffer(Slot(1), got[0].datagram.buffer);
  }
  const Bytes payload = Text("ack");
  ring().Send(Reply(0, 0, payload));
  const auto sent = Collect(1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].error, 0) << "a stopped receive must not stop sending";
}

}  // namespace
}  // namespace ringdhcp
