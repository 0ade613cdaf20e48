// Every truncation and every change of one octet of the recorded client messages, through all that
// a shard does with a datagram: decode, engine, commit, reply, route. What must hold for a reply
// to anything at all is judged; that no octet is read beyond the end is the guard page's part, and
// the sanitizers'.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "server/dhcp4/decode.h"
#include "server/dhcp4/encode.h"
#include "server/dhcp4/reply_route.h"
#include "server/lease/lease_engine.h"
#include "server/lease/reply_builder.h"
#include "storage/commit_queue.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

constexpr std::size_t kRowsMax = 64;
constexpr std::uint8_t kFlips[] = {0x01, 0x80, 0xFF, 0x02, 0x40, 0x04, 0x10};

Subnet MakeSubnet(std::uint32_t id, const char* prefix, const char* first, const char* last) {
  Subnet subnet;
  subnet.id = SubnetId(id);
  subnet.prefix = *Ipv4Prefix::Parse(prefix);
  subnet.pools = {{Address(first), Address(last)}};
  subnet.options = {{3, {192, 0, 2, 1}}, {6, {192, 0, 2, 2, 192, 0, 2, 3}}};
  subnet.authoritative = id % 2 == 1;
  return subnet;
}

class HostileEngineTest : public testing::Test {
 protected:
  HostileEngineTest() : engine_(Config(), 3), queue_(kRowsMax) {
    host_addresses_ = {Address("192.0.2.1")};
    link_ = {"lan0", {{host_addresses_[0], *Ipv4Prefix::Parse("192.0.2.0/24")}}, &host_addresses_};
  }

  // The networks that the recorded clients and relays are in, and one for those without.
  static EngineConfig Config() {
    return {.subnets = {MakeSubnet(1, "10.0.0.0/8", "10.0.0.0", "10.0.3.255"),
                        MakeSubnet(2, "172.16.0.0/12", "172.16.0.1", "172.16.0.99"),
                        MakeSubnet(3, "192.0.2.0/24", "192.0.2.0", "192.0.2.255"),
                        MakeSubnet(4, "192.168.0.0/16", "192.168.0.1", "192.168.0.99")}};
  }

  void Deliver(std::span<const std::uint8_t> payload) {
    now_.monotonic_ns += kNanosecondsPerMillisecond;
    if (Decode(payload, message_)) return;
    ++decoded_;
    engine_.Handle(message_, link_, now_, true, decision_);
    if (decision_.has_mutation) Commit();
    if (decision_.kind == Decision::Kind::kReply) Answer();
  }

  void Commit() {
    ++rows_;
    ASSERT_NE(queue_.Free(), 0U);
    engine_.OnQueued(decision_.mutation.address, queue_.Append(decision_.mutation));
    if (queue_.Free() > 0) return;
    ASSERT_NE(queue_.Seal(), nullptr);
    queue_.OnResult(BatchOutcome::kDurable);
    engine_.OnDurable(queue_.last_durable_rows(), queue_.durable_seq());
    engine_.Tick(now_, kRowsMax);
  }

  void Answer() {
    ++replies_;
    types_.insert(static_cast<int>(decision_.reply_type));
    const Reply& reply = builder_.Build(message_, decision_);
    static_cast<void>(RouteReply(message_.header, message_.type, decision_.reply_type,
                                 decision_.yiaddr, Address("192.0.2.9"), true, true));
    const std::size_t payload_max = MaximumPayload(message_.options, 1500);
    const EncodeResult result = Encode(reply, payload_max, out_);
    ASSERT_LE(result.size, payload_max);
    if (result.size == 0) return;
    ASSERT_GE(result.size, kReplyPayloadMin) << "RFC 1542 section 2.1";
    ASSERT_EQ(out_[kOpAt], kBootReply);
    ASSERT_TRUE(std::equal(out_.begin() + kXidAt, out_.begin() + kXidAt + 4, xid().begin()))
        << "RFC 2131 table 3";
    const bool gives = decision_.reply_type == MessageType::kOffer || decision_.has_mutation;
    ASSERT_TRUE(!gives || decision_.subnet->pools[0].Contains(decision_.yiaddr));
  }
  std::array<std::uint8_t, 4> xid() const {
    const std::uint32_t x = message_.header.xid;
    return {static_cast<std::uint8_t>(x >> 24), static_cast<std::uint8_t>(x >> 16),
            static_cast<std::uint8_t>(x >> 8), static_cast<std::uint8_t>(x)};
  }

  void CheckCounts() {
    for (const SubnetCounts& counts : engine_.Counts()) {
      EXPECT_EQ(counts.bound + counts.offered + counts.declined + counts.free, counts.total);
    }
  }

  GuardedPayload guarded_;
  std::vector<Ipv4Address> host_addresses_;
  LinkView link_;
  Now now_{.monotonic_ns = 1'000'000'000'000, .wall_s = 1'700'000'000};
  LeaseEngine engine_;
  CommitQueue queue_;
  Message message_;
  Decision decision_;
  ReplyBuilder builder_;
  std::array<std::uint8_t, kReplyPayloadMax> out_{};
  std::size_t decoded_ = 0, replies_ = 0, rows_ = 0;
  std::set<int> types_;
};

TEST_F(HostileEngineTest, EveryTruncationOfARecordedMessage) {
  std::size_t cuts = 0;
  for (const Octets& recorded : RecordedMessages()) {
    for (std::size_t size = 0; size <= recorded.size(); ++size, ++cuts) {
      Deliver(guarded_.Hold(std::span(recorded).first(size)));
      ASSERT_FALSE(HasFatalFailure()) << "cut to " << size;
    }
  }
  CheckCounts();
  EXPECT_GT(cuts, 200'000U);
  EXPECT_GT(decoded_, 20'000U);
  EXPECT_GT(replies_, 10'000U);
}

TEST_F(HostileEngineTest, EveryChangeOfOneOctetOfARecordedMessage) {
  std::size_t turn = 0;
  for (const Octets& recorded : RecordedMessages()) {
    const auto payload = guarded_.Hold(recorded);
    for (std::uint8_t& octet : payload) {
      const std::uint8_t flip = kFlips[turn++ % std::size(kFlips)];
      octet ^= flip;
      Deliver(payload);
      octet ^= flip;
      ASSERT_FALSE(HasFatalFailure()) << "octet " << &octet - payload.data();
    }
  }
  CheckCounts();
  EXPECT_GT(turn, 200'000U);
  EXPECT_GT(decoded_, 180'000U);
  EXPECT_GT(replies_, 50'000U);
  EXPECT_GT(rows_, 300U);
  EXPECT_EQ(types_, (std::set<int>{2, 5, 6})) << "OFFER, ACK and NAK";
}

}  // namespace
}  // namespace ringdhcp
