#include "test/unit/lease/engine_fixture.h"

#include <cmath>

namespace ringdhcp::test {

Subnet MakeSubnet(std::uint32_t id, std::string_view prefix, std::string_view first,
                  std::string_view last) {
  Subnet subnet;
  subnet.id = SubnetId(id);
  subnet.prefix = Prefix(prefix);
  subnet.pools = {{Address(first), Address(last)}};
  subnet.lease_times = {.min_s = 60, .default_s = 600, .max_s = 3600};
  return subnet;
}

EngineFixture::EngineFixture() {
  config.subnets = {MakeSubnet(1, "192.0.2.0/24", "192.0.2.10", "192.0.2.19"),
                    MakeSubnet(2, "198.51.100.0/24", "198.51.100.10", "198.51.100.19")};
  host_addresses = {kServer};
  link.name = "lan0";
  link.addresses = {{kServer, Prefix("192.0.2.0/24")}};
  link.host_addresses = &host_addresses;
}

LeaseEngine& EngineFixture::engine() {
  if (engine_ == nullptr) engine_ = std::make_unique<LeaseEngine>(config, 7);
  return *engine_;
}

void EngineFixture::Crash() {
  engine_ = std::make_unique<LeaseEngine>(config, 8);
  queued.clear();
  for (const auto& [address, row] : stored) engine_->Load(row, now);
}

void EngineFixture::PoolOfN(int first, int last) {
  config.subnets[0].pools = {
      {InN(static_cast<std::uint32_t>(first)), InN(static_cast<std::uint32_t>(last))}};
}

Decision EngineFixture::Handle(const Message& message) {
  Decision decision;
  engine().Handle(message, link, now, store_ok, decision);
  if (decision.has_mutation) {
    last_queued = CommitSeq(last_queued.value + 1);
    queued.push_back(decision.mutation);
    engine().OnQueued(decision.mutation.address, last_queued);
    decision.gate = last_queued;
    if (!hold_commits) Commit();
  }
  return decision;
}

void EngineFixture::Commit() {
  for (const LeaseRecord& row : queued) {
    const auto [at, is_new] = stored.try_emplace(row.address, row);
    if (!is_new) {
      EXPECT_GT(row.version, at->second.version);
      at->second = row;
    }
  }
  engine().OnDurable(queued, last_queued);
  queued.clear();
}

Decision EngineFixture::Discover(std::uint32_t client) {
  return Handle(ClientMessage(MessageType::kDiscover, client));
}

Decision EngineFixture::Select(std::uint32_t client, Ipv4Address address) {
  return Handle(ClientMessage(MessageType::kRequest, client).Server(kServer).Requested(address));
}

Decision EngineFixture::Renew(std::uint32_t client, Ipv4Address ciaddr) {
  return Handle(ClientMessage(MessageType::kRequest, client).Ciaddr(ciaddr));
}

Decision EngineFixture::Reboot(std::uint32_t client, Ipv4Address address) {
  return Handle(ClientMessage(MessageType::kRequest, client).Requested(address));
}

Decision EngineFixture::Release(std::uint32_t client, Ipv4Address address) {
  return Handle(ClientMessage(MessageType::kRelease, client).Ciaddr(address).Server(kServer));
}

Decision EngineFixture::Decline(std::uint32_t client, Ipv4Address address) {
  return Handle(ClientMessage(MessageType::kDecline, client).Requested(address).Server(kServer));
}

Ipv4Address EngineFixture::Acquire(std::uint32_t client) {
  const Decision offer = Discover(client);
  EXPECT_EQ(offer.kind, Decision::Kind::kReply) << DropReasonLabel(offer.drop_reason);
  EXPECT_EQ(offer.reply_type, MessageType::kOffer);
  const Decision ack = Select(client, offer.yiaddr);
  EXPECT_EQ(ack.kind, Decision::Kind::kReply) << DropReasonLabel(ack.drop_reason);
  EXPECT_EQ(ack.reply_type, MessageType::kAck);
  EXPECT_EQ(ack.yiaddr, offer.yiaddr);
  return ack.yiaddr;
}

void EngineFixture::Advance(double seconds) {
  const std::int64_t before = now.monotonic_ns / kNanosecondsPerSecond;
  now.monotonic_ns += static_cast<std::int64_t>(std::llround(seconds * 1e9));
  now.wall_s += now.monotonic_ns / kNanosecondsPerSecond - before;
  while (engine().Tick(now, 64) == 64) {
  }
}

SubnetCounts EngineFixture::CountsOf(std::uint32_t subnet_id) {
  for (const SubnetCounts& counts : engine().Counts()) {
    if (counts.id == SubnetId(subnet_id)) return counts;
  }
  ADD_FAILURE() << "no subnet " << subnet_id;
  return {};
}

namespace {

std::string Describe(const Decision& decision) {
  if (decision.kind == Decision::Kind::kDrop) {
    return "drop: " + std::string(DropReasonLabel(decision.drop_reason));
  }
  return "reply of type " + std::to_string(static_cast<int>(decision.reply_type)) + ", yiaddr " +
         decision.yiaddr.ToString() + " " + std::string(decision.text);
}

testing::AssertionResult IsReply(const Decision& decision, MessageType type, Ipv4Address yiaddr) {
  const bool as_wanted = decision.kind == Decision::Kind::kReply && decision.reply_type == type &&
                         decision.yiaddr == yiaddr;
  if (!as_wanted) return testing::AssertionFailure() << Describe(decision);
  return testing::AssertionSuccess() << Describe(decision);
}

}  // namespace

testing::AssertionResult IsOffer(const Decision& decision, std::string_view address) {
  return IsReply(decision, MessageType::kOffer, Address(address));
}

testing::AssertionResult IsAck(const Decision& decision, std::string_view address) {
  return IsReply(decision, MessageType::kAck, Address(address));
}

testing::AssertionResult IsNak(const Decision& decision) {
  return IsReply(decision, MessageType::kNak, Ipv4Address());
}

testing::AssertionResult IsDrop(const Decision& decision, DropReason reason) {
  if (decision.kind == Decision::Kind::kDrop && decision.drop_reason == reason) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << Describe(decision);
}

}  // namespace ringdhcp::test
