// Random commands against the engine, judged by a model that knows only what was promised to whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/base/prng.h"
#include "test/unit/lease/engine_fixture.h"

namespace ringdhcp::test {
namespace {

constexpr std::uint32_t kClients = 40;
constexpr int kSteps = 25'000;
constexpr std::int64_t kHoldNs = 30 * kNanosecondsPerSecond;
constexpr Ipv4Address kOtherServer{0xC00002C8};
constexpr std::int64_t kSlackNs = 40 * kNanosecondsPerMillisecond;  // two ticks of the wheel

// What clients were told. A promise holds from the decision on; `delivered` has those whose ACK
// could leave, which are all that a crash leaves behind.
struct Promise {
  std::uint32_t client = 0;
  std::int64_t end_ns = 0;
};
struct WaitingAck {
  CommitSeq gate;
  Ipv4Address address;
  Promise promise;
};
struct LastOffer {
  Ipv4Address address;
  std::int64_t made_ns = 0;
};

class EnginePropertyTest : public EngineFixture, public testing::WithParamInterface<int> {
 protected:
  EnginePropertyTest() : prng_(static_cast<std::uint64_t>(GetParam())) {
    hold_commits = true;
    // Pools that are too small for all, with a host address and the ends of the network in them.
    config.subnets[0] = MakeSubnet(1, "192.0.2.0/28", "192.0.2.0", "192.0.2.15");
    config.subnets[1].pools = {{InR(10), InR(14)}, {InR(20), InR(29)}};
    config.subnets[1].authoritative = true;
    config.cache_threshold = GetParam() % 3 == 0 ? 0 : 0.2;
    config.decline_probation_s = 300;
    if (GetParam() % 4 == 1) config.subnets[0].lease_times.max_s = kInfiniteSeconds;
    host_addresses.push_back(InR(12));
  }

  bool crashes() const { return GetParam() % 2 == 0; }
  bool Chance(std::uint64_t one_in) { return prng_.Below(one_in) == 0; }
  Ipv4Address AnyAddress() {
    return Chance(2) ? InN(static_cast<std::uint32_t>(prng_.Below(18)))
                     : InR(static_cast<std::uint32_t>(8 + prng_.Below(24)));
  }
  // The promised address of a client in the subnet the message goes to, if it has one.
  Ipv4Address OwnOrAny(std::uint32_t client) {
    if (!Chance(5)) {
      for (const auto& [address, promise] : promises_) {
        if (promise.client == client && Chance(2)) return address;
      }
    }
    return AnyAddress();
  }

  ClientMessage Make(MessageType type, std::uint32_t client, bool relayed) {
    ClientMessage message(type, client);
    if (relayed) message.Relay(kRelayOfR);
    if (client % 3 == 0) {
      message.Id(
          std::vector<std::uint8_t>(client % 2 == 0 ? 5 : 40, static_cast<std::uint8_t>(client)));
    }
    if (Chance(3)) message.LeaseTime(static_cast<std::uint32_t>(prng_.Below(5000)));
    if (Chance(50)) message.LeaseTime(kInfiniteSeconds);
    if (Chance(6)) message.Option(OptionCode::kHostName, Chance(2) ? "some" : "other name");
    return message;
  }

  void Step();
  void SendDiscover(std::uint32_t client, bool relayed);
  void SendRequest(std::uint32_t client, bool relayed);
  void GiveUp(std::uint32_t client, bool relayed);
  Decision Deliver(std::uint32_t client, const Message& message);
  void Judge(std::uint32_t client, const Message& message, const Decision& decision);
  void JudgeAck(std::uint32_t client, Ipv4Address asked, const Decision& decision);
  void CommitSome();
  void CrashNow();
  void CheckCounts();
  bool MayBeLeased(Ipv4Address address) const {
    if (std::ranges::count(host_addresses, address) != 0) return false;
    if (Prefix("192.0.2.0/28").Contains(address)) {
      return address != InN(0) && address != InN(15);
    }
    return (InR(10) <= address && address <= InR(14)) || (InR(20) <= address && address <= InR(29));
  }
  void CheckFreeFor(std::uint32_t client, Ipv4Address address) {
    EXPECT_TRUE(MayBeLeased(address)) << address.ToString();
    const auto promise = promises_.find(address);
    if (promise != promises_.end() && promise->second.end_ns > now.monotonic_ns) {
      EXPECT_EQ(promise->second.client, client) << address.ToString() << " is another's";
    }
    const auto declined = declined_.find(address);
    if (declined != declined_.end()) {
      EXPECT_LE(declined->second, now.monotonic_ns) << address.ToString() << " is on probation";
    }
  }

  Prng prng_;
  std::map<Ipv4Address, Promise> promises_;
  std::map<Ipv4Address, Promise> delivered_;
  std::vector<WaitingAck> waiting_;
  std::map<Ipv4Address, std::int64_t> declined_;
  std::map<Ipv4Address, CommitSeq> last_row_;
  std::map<Ipv4Address, std::int64_t> last_offer_ns_;
  std::map<std::pair<std::uint32_t, bool>, LastOffer> offers_;
  CommitSeq durable_;
  std::uint64_t acks_ = 0;
  std::uint64_t cached_ = 0;
  std::uint64_t naks_ = 0;
  std::uint64_t exhausted_ = 0;
};

Decision EnginePropertyTest::Deliver(std::uint32_t client, const Message& message) {
  const Decision decision = Handle(message);
  if (decision.has_mutation) {
    last_row_[decision.mutation.address] = decision.gate;
    EXPECT_TRUE(store_ok);
  }
  Judge(client, message, decision);
  return decision;
}

void EnginePropertyTest::Judge(std::uint32_t client, const Message& message,
                               const Decision& decision) {
  if (decision.kind == Decision::Kind::kDrop) {
    exhausted_ += decision.drop_reason == DropReason::kPoolExhausted;
    return;
  }
  if (decision.reply_type == MessageType::kOffer) {
    CheckFreeFor(client, decision.yiaddr);
    EXPECT_FALSE(decision.has_mutation);
    last_offer_ns_[decision.yiaddr] = now.monotonic_ns;
    for (const auto& [who, offer] : offers_) {
      if (who.first == client || offer.address != decision.yiaddr) continue;
      EXPECT_LE(offer.made_ns + kHoldNs, now.monotonic_ns)
          << decision.yiaddr.ToString() << " is held for another";
    }
  }
  if (decision.reply_type == MessageType::kNak) ++naks_;
  if (decision.reply_type == MessageType::kAck) {
    const auto requested = message.options.FindAddress(OptionCode::kRequestedAddress);
    JudgeAck(client, requested.value_or(message.header.ciaddr), decision);
  }
}

void EnginePropertyTest::JudgeAck(std::uint32_t client, Ipv4Address asked,
                                  const Decision& decision) {
  ++acks_;
  const Ipv4Address address = decision.yiaddr;
  EXPECT_EQ(address, asked);
  CheckFreeFor(client, address);
  EXPECT_GT(decision.lease_time_s, 0U);
  const CommitSeq newest = last_row_[address];
  if (decision.has_mutation) {
    EXPECT_EQ(decision.mutation.address, address);
    EXPECT_EQ(decision.mutation.state, LeaseState::kBound);
    EXPECT_EQ(decision.mutation.hlen, 6);
  } else if (store_ok) {
    ++cached_;
    EXPECT_EQ(decision.gate, newest > durable_ ? newest : CommitSeq());
  } else {
    EXPECT_EQ(decision.gate, CommitSeq());
    const auto row = stored.find(address);
    ASSERT_NE(row, stored.end());
    EXPECT_EQ(row->second.state, LeaseState::kBound);
    if (crashes() && row->second.expires_wall_s != kNeverExpires) {  // no steps of the wall clock
      EXPECT_GE(row->second.expires_wall_s + 1, now.wall_s + decision.lease_time_s);
    }
  }
  std::int64_t end_ns = kNanosecondsPerSecond * decision.lease_time_s + now.monotonic_ns;
  if (decision.lease_time_s == kInfiniteSeconds) end_ns = std::numeric_limits<std::int64_t>::max();
  const auto promise_until = [&](std::map<Ipv4Address, Promise>& book, Promise made) {
    Promise& promise = book[address];
    if (promise.client != made.client || promise.end_ns <= now.monotonic_ns) promise = {};
    promise = {made.client, std::max(promise.end_ns, made.end_ns)};
  };
  promise_until(promises_, {client, end_ns});
  if (decision.gate == CommitSeq()) {
    promise_until(delivered_, {client, end_ns});
  } else {
    waiting_.push_back({decision.gate, address, {client, end_ns}});
  }
}

void EnginePropertyTest::SendDiscover(std::uint32_t client, bool relayed) {
  ClientMessage message = Make(MessageType::kDiscover, client, relayed);
  if (Chance(3)) message.Requested(AnyAddress());
  const Decision decision = Deliver(client, message);
  if (decision.kind == Decision::Kind::kReply) {
    offers_[{client, relayed}] = {decision.yiaddr, now.monotonic_ns};
  }
}

void EnginePropertyTest::SendRequest(std::uint32_t client, bool relayed) {
  const auto offer = offers_.find({client, relayed});
  ClientMessage message = Make(MessageType::kRequest, client, relayed);
  if (offer != offers_.end() && !Chance(4)) {
    const Decision decision =
        Deliver(client, message.Server(kServer).Requested(offer->second.address));
    const bool in_time = now.monotonic_ns < offer->second.made_ns + kHoldNs;
    if (in_time && store_ok) {
      EXPECT_TRUE(IsAck(decision, offer->second.address.ToString())) << "what is offered is given";
      if (Chance(4)) {
        EXPECT_TRUE(IsAck(Deliver(client, message), offer->second.address.ToString()));
      }
    }
    offers_.erase(offer);
    return;
  }
  offers_.erase({client, relayed});
  switch (prng_.Below(4)) {
    case 0:
      Deliver(client, message.Server(kServer).Requested(OwnOrAny(client)));
      return;
    case 1:
      Deliver(client, message.Requested(OwnOrAny(client)));
      return;
    case 2:
      Deliver(client, message.Ciaddr(OwnOrAny(client)));
      return;
    default:
      EXPECT_TRUE(IsDrop(Deliver(client, message.Server(kOtherServer).Requested(AnyAddress())),
                         DropReason::kOtherServer));
  }
}

void EnginePropertyTest::GiveUp(std::uint32_t client, bool relayed) {
  const Ipv4Address address = OwnOrAny(client);
  const bool declines = Chance(4);
  ClientMessage message =
      Make(declines ? MessageType::kDecline : MessageType::kRelease, client, relayed);
  message.Server(kServer);
  declines ? message.Requested(address) : message.Ciaddr(address);
  const auto held = promises_.find(address);
  const bool holder = held != promises_.end() && held->second.client == client &&
                      held->second.end_ns > now.monotonic_ns;
  const Decision decision = Deliver(client, message);
  EXPECT_EQ(decision.kind, Decision::Kind::kDrop) << "there is no reply (RFC 2131 4.3.3, 4.3.4)";
  if (!decision.has_mutation) {
    EXPECT_FALSE(holder && store_ok) << address.ToString();
    return;
  }
  // A lost RELEASE or a late expiry may leave the engine with a lease the model has forgotten.
  if (!crashes()) {
    EXPECT_TRUE(held != promises_.end() && held->second.client == client);
  }
  promises_.erase(address);
  delivered_.erase(address);
  std::erase_if(waiting_, [address](const WaitingAck& w) { return w.address == address; });
  std::erase_if(offers_, [address](const auto& o) { return o.second.address == address; });
  if (declines) declined_[address] = now.monotonic_ns + 300 * kNanosecondsPerSecond;
}

// The oldest rows become durable, and the ACKs that waited for them leave.
void EnginePropertyTest::CommitSome() {
  if (queued.empty()) return;
  const std::size_t count = 1 + prng_.Below(queued.size());
  const std::vector<LeaseRecord> rows(queued.begin(),
                                      queued.begin() + static_cast<std::ptrdiff_t>(count));
  durable_ = CommitSeq(last_queued.value - queued.size() + count);
  queued.erase(queued.begin(), queued.begin() + static_cast<std::ptrdiff_t>(count));
  for (const LeaseRecord& row : rows) {
    const auto [at, is_new] = stored.try_emplace(row.address, row);
    if (is_new) continue;
    EXPECT_GT(row.version, at->second.version);
    at->second = row;
  }
  engine().OnDurable(rows, durable_);
  std::erase_if(waiting_, [this](const WaitingAck& ack) {
    if (ack.gate > durable_) return false;
    Promise& promise = delivered_[ack.address];
    if (promise.client != ack.promise.client) promise = {};
    promise = {ack.promise.client, std::max(promise.end_ns, ack.promise.end_ns)};
    return true;
  });
}

void EnginePropertyTest::CrashNow() {
  Crash();
  waiting_.clear();
  offers_.clear();
  promises_ = delivered_;
  // A DECLINE that was not stored is forgotten.
  std::erase_if(declined_, [this](const auto& d) {
    const auto row = stored.find(d.first);
    return row == stored.end() || row->second.state != LeaseState::kDeclined;
  });
  durable_ = last_queued;
  last_row_.clear();
}

void EnginePropertyTest::CheckCounts() {
  std::map<std::uint32_t, std::uint64_t> certain, possible;
  for (const auto& [address, promise] : promises_) {
    const std::uint32_t subnet = Prefix("192.0.2.0/28").Contains(address) ? 1 : 2;
    certain[subnet] += promise.end_ns > now.monotonic_ns;
    // An OFFER to the holder keeps a lease for the hold.
    const std::int64_t kept_until = std::max(promise.end_ns, last_offer_ns_[address] + kHoldNs);
    possible[subnet] += kept_until > now.monotonic_ns - kSlackNs;
  }
  for (const SubnetCounts& counts : engine().Counts()) {
    EXPECT_EQ(counts.total, counts.id == SubnetId(1) ? 14U : 15U);
    EXPECT_EQ(counts.bound + counts.offered + counts.declined + counts.free, counts.total);
    EXPECT_GE(counts.bound, certain[counts.id.value]);
    if (!crashes()) {
      EXPECT_LE(counts.bound, possible[counts.id.value]);
    }
  }
}

void EnginePropertyTest::Step() {
  const auto client = static_cast<std::uint32_t>(1 + prng_.Below(kClients));
  const bool relayed = Chance(2);
  const std::uint64_t dice = prng_.Below(100);
  if (dice < 30) {
    SendDiscover(client, relayed);
  } else if (dice < 75) {
    SendRequest(client, relayed);
  } else if (dice < 82) {
    GiveUp(client, relayed);
  } else if (dice < 92) {
    CommitSome();
  } else if (dice < 98) {
    // Mostly seconds, at times hours, and now and then without a tick.
    const double seconds = static_cast<double>(prng_.Below(Chance(20) ? 4000 : 20)) + 0.37;
    if (Chance(5)) {
      now.monotonic_ns += static_cast<std::int64_t>(seconds) * kNanosecondsPerSecond;
      now.wall_s += static_cast<std::int64_t>(seconds);
    } else {
      Advance(seconds);
      CheckCounts();
    }
    if (!crashes() && Chance(10)) now.wall_s += static_cast<std::int64_t>(prng_.Below(100'000));
  } else if (dice == 98) {
    store_ok = !store_ok || Chance(2);
  } else if (crashes() && Chance(10)) {
    CrashNow();
  }
}

TEST_P(EnginePropertyTest, NoAddressIsEverPromisedTwice) {
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Step();
  }
  // The run must have gone where it hurts.
  EXPECT_GT(acks_, 1000U);
  EXPECT_GT(naks_, 500U);
  EXPECT_GT(exhausted_, 20U);
  EXPECT_GT(cached_, 20U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EnginePropertyTest, testing::Range(1, 9));

}  // namespace
}  // namespace ringdhcp::test
