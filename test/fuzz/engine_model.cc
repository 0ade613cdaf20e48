#include "test/fuzz/engine_model.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "server/base/check.h"
#include "server/dhcp4/decode.h"
#include "server/dhcp4/encode.h"
#include "test/unit/dhcp4/reference_decoder.h"

namespace ringdhcp {

namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kTickBudget = 8;

Subnet MakeSubnet(std::uint32_t id, const char* prefix) {
  Subnet subnet;
  subnet.id = SubnetId(id);
  subnet.prefix = *Ipv4Prefix::Parse(prefix);
  subnet.lease_times = {.min_s = 60, .default_s = 600, .max_s = 3600};
  return subnet;
}

// RFC 2131 section 4.2: option 61, else htype and chaddr. Of long ones what a row can hold. Empty:
// the sender has none.
std::string IdentityOf(std::uint8_t htype, std::span<const std::uint8_t> hardware_address,
                       std::span<const std::uint8_t> client_id) {
  if (client_id.size() >= 2) {
    return "I" + std::string(client_id.begin(),
                             client_id.begin() + static_cast<std::ptrdiff_t>(
                                                     std::min<std::size_t>(client_id.size(), 255)));
  }
  const bool zero = std::all_of(hardware_address.begin(), hardware_address.end(),
                                [](std::uint8_t octet) { return octet == 0; });
  if (zero) return "";
  return "H" + std::string(1, static_cast<char>(htype)) +
         std::string(hardware_address.begin(), hardware_address.end());
}

std::string IdentityOf(const Message& message) {
  return IdentityOf(message.header.htype, message.header.HardwareAddress(),
                    message.options.Find(OptionCode::kClientIdentifier)
                        .value_or(std::span<const std::uint8_t>()));
}

std::uint32_t LastFour(std::span<const std::uint8_t> octets) {
  std::uint32_t number = 0;
  for (const std::uint8_t octet : octets) number = number << 8 | octet;
  return number;
}

}  // namespace

EngineModel::EngineModel(const Options& options)
    : commit_rows_max_(options.commit_rows_max),
      trace_(std::getenv("RINGDHCP_FUZZ_TRACE") != nullptr) {
  // Pools that are too small for all, with a host's address and the ends of the network in them.
  config_.subnets = {MakeSubnet(1, "192.0.2.0/28"), MakeSubnet(2, "198.51.100.0/24")};
  const auto in_n = [](std::uint32_t host) { return Ipv4Address(0xC0000200 + host); };
  const auto in_r = [](std::uint32_t host) { return Ipv4Address(0xC6336400 + host); };
  config_.subnets[0].pools = {{in_n(0), in_n(4)}, {in_n(13), in_n(15)}};
  config_.subnets[0].authoritative = options.authoritative;
  if (options.infinite) config_.subnets[0].lease_times.max_s = kInfiniteSeconds;
  config_.subnets[1].pools = {{in_r(10), in_r(12)}, {in_r(20), in_r(22)}};
  config_.subnets[1].authoritative = true;
  config_.cache_threshold = options.cache ? 0.2 : 0;
  config_.decline_probation_s = 300;
  host_addresses_ = {kServer, in_r(12)};
  link_ = {"lan0", {{kServer, config_.subnets[0].prefix}}, &host_addresses_};
  engine_ = std::make_unique<LeaseEngine>(config_, kSeed);
  queue_ = std::make_unique<CommitQueue>(commit_rows_max_);
}

Ipv4Address EngineModel::LastOffer(std::uint32_t hardware_address) const {
  const auto found = last_offer_.find(hardware_address);
  return found == last_offer_.end() ? Ipv4Address() : found->second;
}

void EngineModel::Deliver(std::span<const std::uint8_t> payload) {
  if (Decode(payload, message_)) return;
  if (store_ok_ && queue_->Free() == 0) return;  // no credit: a shard leaves it in its queue
  engine_->Handle(message_, link_, now_, store_ok_, decision_);
  const std::string client = IdentityOf(message_);
  if (decision_.has_mutation) Queue();
  if (trace_) Trace();
  Judge(message_, client);
}

// What a person needs to follow a finding: the message, and what the engine made of it.
void EngineModel::Trace() const {
  const Header& header = message_.header;
  const auto requested = message_.options.FindAddress(OptionCode::kRequestedAddress);
  std::fprintf(stderr, "%10.3f s: type %d, client %u%s, ciaddr %s, requested %s -> ",
               static_cast<double>(now_.monotonic_ns - kStartNs) / 1e9,
               static_cast<int>(message_.type), LastFour(header.HardwareAddress()),
               header.giaddr.IsZero() ? "" : " relayed", header.ciaddr.ToString().c_str(),
               requested ? requested->ToString().c_str() : "nothing");
  if (decision_.kind == Decision::Kind::kDrop) {
    std::fprintf(stderr, "drop %s", std::string(DropReasonLabel(decision_.drop_reason)).c_str());
  } else {
    std::fprintf(stderr, "reply %d, yiaddr %s, %u s", static_cast<int>(decision_.reply_type),
                 decision_.yiaddr.ToString().c_str(), decision_.lease_time_s);
  }
  std::fprintf(stderr, ", gate %llu, durable %llu%s\n",
               static_cast<unsigned long long>(decision_.gate.value),
               static_cast<unsigned long long>(queue_->durable_seq().value),
               decision_.has_mutation ? ", row" : "");
}

void EngineModel::Queue() {
  const LeaseRecord& row = decision_.mutation;
  RINGDHCP_CHECK(store_ok_);
  RINGDHCP_CHECK(row.version > versions_[row.address]);
  versions_[row.address] = row.version;
  const CommitSeq seq = queue_->Append(row);
  engine_->OnQueued(row.address, seq);
  decision_.gate = seq;
  log_.push_back({seq, row});
  newest_[row.address] = {seq, row};
}

void EngineModel::Judge(const Message& message, const Identity& client) {
  if (decision_.kind == Decision::Kind::kDrop) return JudgeDrop(message, client);
  RINGDHCP_CHECK(!client.empty() && decision_.subnet != nullptr);
  RINGDHCP_CHECK(!decision_.server_identifier.IsZero());
  switch (decision_.reply_type) {
    case MessageType::kOffer:
      RINGDHCP_CHECK(message.type == MessageType::kDiscover);
      JudgeOffer(client);
      last_offer_[LastFour(message.header.HardwareAddress())] = decision_.yiaddr;
      break;
    case MessageType::kAck:
      if (message.type == MessageType::kInform) {
        // RFC 2131 section 4.3.5: no yiaddr, no lease time.
        RINGDHCP_CHECK(decision_.yiaddr.IsZero() && decision_.lease_time_s == 0);
        RINGDHCP_CHECK(!decision_.has_mutation && decision_.gate == CommitSeq());
      } else {
        JudgeAck(message, client);
      }
      break;
    case MessageType::kNak:
      JudgeNak(message, client);
      break;
    default:
      RINGDHCP_CHECK(false);
  }
  JudgeReply(message);
}

// Only RELEASE and DECLINE change anything without a reply.
void EngineModel::JudgeDrop(const Message& message, const Identity& client) {
  const bool declines = message.type == MessageType::kDecline;
  if (declines || message.type == MessageType::kRelease || message.type == MessageType::kRequest) {
    std::erase_if(offers_, [&](const auto& offer) { return offer.first.first == client; });
  }
  if (!decision_.has_mutation) return;
  RINGDHCP_CHECK(declines || message.type == MessageType::kRelease);
  const LeaseRecord& row = decision_.mutation;
  RINGDHCP_CHECK(row.state == (declines ? LeaseState::kDeclined : LeaseState::kReleased));
  const auto promise = promises_.find(row.address);
  RINGDHCP_CHECK(promise == promises_.end() || promise->second.client == client ||
                 promise->second.end_ns <= now_.monotonic_ns);
  promises_.erase(row.address);
  delivered_.erase(row.address);
  std::erase_if(waiting_, [&](const WaitingAck& ack) { return ack.address == row.address; });
  if (declines) {
    declined_[row.address] =
        now_.monotonic_ns + config_.decline_probation_s * kNanosecondsPerSecond;
  }
}

void EngineModel::CheckGivable(Ipv4Address address, const Identity& client) const {
  const Subnet& subnet = *decision_.subnet;
  RINGDHCP_CHECK(std::any_of(subnet.pools.begin(), subnet.pools.end(),
                             [&](const Pool& pool) { return pool.Contains(address); }));
  RINGDHCP_CHECK(address != subnet.prefix.address && address != subnet.prefix.Broadcast());
  RINGDHCP_CHECK(std::ranges::count(host_addresses_, address) == 0);
  const auto promise = promises_.find(address);
  RINGDHCP_CHECK(promise == promises_.end() || promise->second.client == client ||
                 promise->second.end_ns <= now_.monotonic_ns);
  const auto declined = declined_.find(address);
  RINGDHCP_CHECK(declined == declined_.end() || declined->second <= now_.monotonic_ns);
  for (const auto& [holder, offer] : offers_) {
    RINGDHCP_CHECK(holder.first == client || offer.address != address ||
                   offer.end_ns <= now_.monotonic_ns);
  }
}

void EngineModel::JudgeOffer(const Identity& client) {
  CheckGivable(decision_.yiaddr, client);
  RINGDHCP_CHECK(!decision_.has_mutation && decision_.gate == CommitSeq());
  RINGDHCP_CHECK(decision_.lease_time_s > 0);
  offers_[{client, decision_.subnet->id.value}] = {
      decision_.yiaddr, now_.monotonic_ns + config_.offer_hold_s * kNanosecondsPerSecond};
}

// The row that makes the ACK true: the client's, and for as long as it was told.
void EngineModel::CheckRow(const LeaseRecord& row, const Identity& client) const {
  RINGDHCP_CHECK(row.state == LeaseState::kBound && row.address == decision_.yiaddr);
  RINGDHCP_CHECK(IdentityOf(row.htype, row.HardwareAddress(), row.ClientId()) == client);
  if (row.expires_wall_s == kNeverExpires) return;
  RINGDHCP_CHECK(decision_.lease_time_s != kInfiniteSeconds);
  RINGDHCP_CHECK(row.expires_wall_s + 1 >= now_.wall_s + decision_.lease_time_s);
}

void EngineModel::JudgeAck(const Message& message, const Identity& client) {
  RINGDHCP_CHECK(message.type == MessageType::kRequest);
  const Ipv4Address address = decision_.yiaddr;
  const auto requested = message.options.FindAddress(OptionCode::kRequestedAddress);
  RINGDHCP_CHECK(address == message.header.ciaddr || address == requested);
  std::erase_if(offers_, [&](const auto& offer) { return offer.first.first == client; });
  CheckGivable(address, client);
  RINGDHCP_CHECK(decision_.lease_time_s > 0);
  RINGDHCP_CHECK(decision_.lease_time_s <= decision_.subnet->lease_times.max_s);

  if (decision_.gate > queue_->durable_seq()) {
    const QueuedRow& newest = newest_.at(address);
    RINGDHCP_CHECK(newest.seq == decision_.gate);
    CheckRow(newest.record, client);
  } else {
    const auto row = stored_.find(address);
    RINGDHCP_CHECK(row != stored_.end());
    CheckRow(row->second, client);
  }

  Promise promise{client, std::numeric_limits<std::int64_t>::max()};
  if (decision_.lease_time_s != kInfiniteSeconds) {
    promise.end_ns = now_.monotonic_ns + decision_.lease_time_s * kNanosecondsPerSecond;
  }
  AddPromise(promises_, address, promise, now_.monotonic_ns);
  if (decision_.gate <= queue_->durable_seq()) {
    AddPromise(delivered_, address, promise, now_.monotonic_ns);
  } else {
    waiting_.push_back({decision_.gate, address, promise});
  }
}

void EngineModel::AddPromise(std::map<Ipv4Address, Promise>& book, Ipv4Address address,
                             const Promise& made, std::int64_t now_ns) {
  Promise& promise = book[address];
  if (promise.client != made.client || promise.end_ns <= now_ns) promise = {};
  promise = {made.client, std::max(promise.end_ns, made.end_ns)};
}

void EngineModel::JudgeNak(const Message& message, const Identity& client) {
  RINGDHCP_CHECK(message.type == MessageType::kRequest);
  RINGDHCP_CHECK(decision_.yiaddr.IsZero() && decision_.lease_time_s == 0);
  RINGDHCP_CHECK(!decision_.has_mutation && decision_.gate == CommitSeq());
  std::erase_if(offers_, [&](const auto& offer) { return offer.first.first == client; });
  // The holder of a running lease who asks for it on its own network is never refused.
  const auto requested = message.options.FindAddress(OptionCode::kRequestedAddress);
  const Ipv4Address asked = requested.value_or(message.header.ciaddr);
  if (!decision_.subnet->prefix.Contains(asked)) return;
  const auto promise = promises_.find(asked);
  RINGDHCP_CHECK(promise == promises_.end() || promise->second.client != client ||
                 promise->second.end_ns <= now_.monotonic_ns);
}

// Built and encoded, the reply says what was decided.
void EngineModel::JudgeReply(const Message& message) {
  std::array<std::uint8_t, kReplyPayloadMax> out{};
  const EncodeResult result =
      Encode(builder_.Build(message, decision_), MaximumPayload(message.options, 1500), out);
  if (result.size == 0) return;
  out[0] = kBootRequest;  // the reference decodes what clients send
  const ReferenceMessage read = ReferenceDecode(std::span(out).first(result.size));
  RINGDHCP_CHECK(read.drop == DropReason::kServerMessage);
  const auto& type = read.options[53];
  RINGDHCP_CHECK(type && type->size() == 1 &&
                 (*type)[0] == static_cast<std::uint8_t>(decision_.reply_type));
  RINGDHCP_CHECK(read.options[54] &&
                 LastFour(*read.options[54]) == decision_.server_identifier.value);
  RINGDHCP_CHECK(LastFour(std::span(out).subspan(kYiaddrAt, 4)) == decision_.yiaddr.value);
  const auto& time = read.options[51];
  RINGDHCP_CHECK(time.has_value() == (decision_.lease_time_s != 0));
  if (!time) return;
  RINGDHCP_CHECK(LastFour(*time) == decision_.lease_time_s);
  // RFC 2131 section 4.4.5: T1 before T2, T2 before the end.
  if (decision_.t1_s != 0 && decision_.lease_time_s != kInfiniteSeconds) {
    RINGDHCP_CHECK(decision_.t1_s < decision_.t2_s && decision_.t2_s < decision_.lease_time_s);
  }
}

void EngineModel::Submit() {
  if (queue_->in_flight()) return;
  const bool retry = queue_->has_retry();
  batch_ = queue_->Seal();
  if (batch_ == nullptr) {
    RINGDHCP_CHECK(log_.empty());
    return;
  }
  if (retry) return;
  std::map<Ipv4Address, std::uint64_t> expected;
  for (const QueuedRow& row : log_) expected[row.record.address] = row.record.version;
  RINGDHCP_CHECK(batch_->last == log_.back().seq);
  RINGDHCP_CHECK(batch_->rows.size() == expected.size());
  for (const LeaseRecord& row : batch_->rows) {
    RINGDHCP_CHECK(expected.count(row.address) == 1 && expected[row.address] == row.version);
  }
  log_.clear();
}

void EngineModel::Store(std::span<const LeaseRecord> rows) {
  for (const LeaseRecord& row : rows) {
    const auto [at, is_new] = stored_.try_emplace(row.address, row);
    if (is_new) continue;
    RINGDHCP_CHECK(row.version >= at->second.version);
    at->second = row;
  }
}

void EngineModel::Finish(Outcome outcome) {
  if (!queue_->in_flight()) return;
  if (outcome == Outcome::kDurable || outcome == Outcome::kUnknownStored) Store(batch_->rows);
  if (outcome != Outcome::kDurable) {
    queue_->OnResult(outcome == Outcome::kFailed ? BatchOutcome::kFailed : BatchOutcome::kUnknown);
    store_ok_ = false;
    return;
  }
  const CommitSeq last = batch_->last;
  queue_->OnResult(BatchOutcome::kDurable);
  RINGDHCP_CHECK(queue_->durable_seq() == last);
  engine_->OnDurable(queue_->last_durable_rows(), queue_->durable_seq());
  store_ok_ = true;
  std::erase_if(waiting_, [&](const WaitingAck& ack) {
    if (ack.gate > last) return false;
    AddPromise(delivered_, ack.address, ack.promise, now_.monotonic_ns);
    return true;
  });
}

void EngineModel::Stall(bool stalled) { store_ok_ = !stalled && !queue_->has_retry(); }

void EngineModel::Advance(std::int64_t milliseconds, bool tick) {
  const std::int64_t before_s = now_.monotonic_ns / kNanosecondsPerSecond;
  now_.monotonic_ns += milliseconds * kNanosecondsPerMillisecond;
  now_.wall_s += now_.monotonic_ns / kNanosecondsPerSecond - before_s;
  if (!tick) return;
  while (engine_->Tick(now_, kTickBudget) == kTickBudget) {
  }
  CheckCounts();
}

void EngineModel::CheckCounts() const {
  std::map<std::uint32_t, std::uint64_t> promised;
  for (const auto& [address, promise] : promises_) {
    if (promise.end_ns <= now_.monotonic_ns) continue;
    ++promised[config_.subnets[0].prefix.Contains(address) ? 1 : 2];
  }
  for (const SubnetCounts& counts : engine_->Counts()) {
    RINGDHCP_CHECK(counts.bound + counts.offered + counts.declined + counts.free == counts.total);
    RINGDHCP_CHECK(counts.bound >= promised[counts.id.value]);
  }
}

void EngineModel::Crash(bool in_flight_was_stored) {
  if (queue_->in_flight() && in_flight_was_stored) Store(batch_->rows);
  if (trace_) std::fprintf(stderr, "crash\n");
  engine_ = std::make_unique<LeaseEngine>(config_, kSeed + 1);
  queue_ = std::make_unique<CommitQueue>(commit_rows_max_);
  batch_ = nullptr;
  store_ok_ = true;
  for (const auto& [address, row] : stored_) RINGDHCP_CHECK(engine_->Load(row, now_));
  promises_ = delivered_;
  waiting_.clear();
  offers_.clear();
  log_.clear();
  newest_.clear();
  versions_.clear();
  for (const auto& [address, row] : stored_) versions_[address] = row.version;
  // A DECLINE that was not stored is forgotten.
  std::erase_if(declined_, [this](const auto& declined) {
    const auto row = stored_.find(declined.first);
    return row == stored_.end() || row->second.state != LeaseState::kDeclined;
  });
  CheckCounts();
}

void EngineModel::HealAndCheck() {
  for (int round = 0; round < 3; ++round) {  // in flight, to retry, gathering
    Submit();
    Finish(Outcome::kDurable);
  }
  RINGDHCP_CHECK(queue_->pending_rows() == 0 && waiting_.empty());
  Crash(false);
  const auto known = delivered_;
  for (const auto& [address, promise] : known) {
    if (promise.end_ns <= now_.monotonic_ns) continue;
    const LeaseRecord& row = stored_.at(address);
    ClientMessage renewal(MessageType::kRequest);
    if (row.client_id_length != 0) renewal.Option(61, row.ClientId());
    Octets payload = renewal.Build();
    payload[kHtypeAt] = row.htype;
    payload[kHlenAt] = row.hlen;
    std::copy(row.chaddr.begin(), row.chaddr.end(), payload.begin() + kChaddrAt);
    for (std::size_t i = 0; i < 4; ++i) {
      payload[kCiaddrAt + i] = static_cast<std::uint8_t>(address.value >> (24 - 8 * i));
    }
    if (queue_->Free() == 0) {
      Submit();
      Finish(Outcome::kDurable);
    }
    Deliver(payload);
    RINGDHCP_CHECK(decision_.kind == Decision::Kind::kReply &&
                   decision_.reply_type == MessageType::kAck && decision_.yiaddr == address);
  }
}

}  // namespace ringdhcp
