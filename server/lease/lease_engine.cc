#include "server/lease/lease_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

namespace {

// A renewal that is answered while the store fails must last at least this long.
constexpr std::uint32_t kDurableSecondsMin = 60;

// Identifiers of more than 255 octets are known by their first 255, which is what a row can hold:
// after a restart the client must be the same.
std::optional<ClientKey> Identify(const Message& message) {
  const auto id = message.options.Find(OptionCode::kClientIdentifier);
  if (id && id->size() > 255) return ClientKey::FromClientId(id->first(255));
  return IdentifyClient(message);
}

std::uint32_t Fraction(std::uint32_t seconds, double fraction) {
  return static_cast<std::uint32_t>(std::floor(static_cast<double>(seconds) * fraction));
}

}  // namespace

LeaseEngine::Impl::Impl(EngineConfig engine_config, std::uint64_t seed)
    : config(std::move(engine_config)),
      table(config.subnets),
      allocator(table, config.subnets.size()),
      wheel(table, config.reply_delay_max_ns),
      clients(table, seed),
      details(table.size()),
      selector(config.subnets) {
  for (std::uint32_t i = 0; i < config.subnets.size(); ++i) {
    const LeaseTable::Range range = table.RangeOf(i);
    SubnetCounts count;
    count.id = config.subnets[i].id;
    const auto reserved = table.reserved();
    const auto first = std::lower_bound(reserved.begin(), reserved.end(), range.begin);
    const auto last = std::lower_bound(first, reserved.end(), range.end);
    count.total = range.end - range.begin - static_cast<std::uint64_t>(last - first);
    count.free = count.total;
    counts.push_back(count);
  }
}

void LeaseEngine::Impl::Drop(Exchange& exchange, DropReason reason) const {
  exchange.decision.kind = Decision::Kind::kDrop;
  exchange.decision.drop_reason = reason;
}

void LeaseEngine::Impl::Nak(Exchange& exchange, std::string_view text) const {
  Reply(exchange, MessageType::kNak, Ipv4Address(), 0);
  exchange.decision.text = text;
}

void LeaseEngine::Impl::Reply(Exchange& exchange, MessageType type, Ipv4Address yiaddr,
                              std::uint32_t lease_time_s) const {
  Decision& decision = exchange.decision;
  decision.kind = Decision::Kind::kReply;
  decision.reply_type = type;
  decision.yiaddr = yiaddr;
  decision.server_identifier = exchange.server_identifier;
  decision.subnet = exchange.subnet;
  decision.lease_time_s = lease_time_s;
  if (lease_time_s == kInfiniteSeconds) {
    decision.t1_s = decision.t2_s = kInfiniteSeconds;
  } else if (lease_time_s >= 3) {
    // RFC 2131 section 4.4.5: T1 before T2, T2 before the end.
    const LeaseTimes& times = exchange.subnet->lease_times;
    decision.t2_s = std::clamp(Fraction(lease_time_s, times.t2), 2U, lease_time_s - 1);
    decision.t1_s = std::clamp(Fraction(lease_time_s, times.t1), 1U, decision.t2_s - 1);
    if (RINGDHCP_CANARY(rebinds_too_late)) decision.t2_s = lease_time_s;
  }
}

void LeaseEngine::Impl::Mutate(Exchange& exchange, std::uint32_t index) {
  Lease& lease = table[index];
  ++lease.version;
  exchange.decision.has_mutation = true;
  LeaseRecord& row = exchange.decision.mutation;
  row = LeaseRecord{};
  row.address = lease.address;
  row.subnet = config.subnets[lease.subnet].id;
  row.state = lease.state;
  row.version = lease.version;
  row.starts_wall_s = lease.starts_wall_s;
  row.expires_wall_s = lease.expires_wall_s;
  row.htype = lease.htype;
  row.hlen = lease.hlen;
  row.chaddr = lease.chaddr;
  const auto id = exchange.message.options.Find(OptionCode::kClientIdentifier);
  if (id && id->size() >= 2) {
    row.client_id_length = static_cast<std::uint8_t>(std::min<std::size_t>(id->size(), 255));
    std::copy_n(id->begin(), row.client_id_length, row.client_id.begin());
  }
  details.CopyTo(lease.details, row);
}

std::uint32_t LeaseEngine::Impl::WantedTime(const Exchange& exchange) const {
  const LeaseTimes& times = exchange.subnet->lease_times;
  const auto asked = exchange.message.options.FindU32(OptionCode::kLeaseTime);
  return asked ? std::clamp(*asked, times.min_s, times.max_s) : times.default_s;
}

std::uint32_t LeaseEngine::Impl::TimeToGrant(const Exchange& exchange, const Lease& lease) const {
  const Message& message = exchange.message;
  // Not cleared by the ACK: if that gets lost, the client repeats its REQUEST.
  if (lease.offered_s != 0 && lease.client == exchange.client &&
      ClassifyRequest(message).kind == RequestKind::kSelecting &&
      !message.options.FindU32(OptionCode::kLeaseTime)) {
    return lease.offered_s;
  }
  return WantedTime(exchange);
}

std::uint32_t LeaseEngine::Impl::RemainingSeconds(std::int64_t deadline_ns, const Now& now) {
  if (deadline_ns == kNeverNs) return kInfiniteSeconds;
  if (deadline_ns <= now.monotonic_ns) return 0;
  const std::int64_t seconds = (deadline_ns - now.monotonic_ns) / kNanosecondsPerSecond;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(seconds, kInfiniteSeconds - 1));
}

std::uint32_t LeaseEngine::Impl::DurableSeconds(const Lease& lease, const Now& now) {
  if (lease.state != LeaseState::kBound) return 0;
  const std::uint32_t left =
      RemainingSeconds(std::min(lease.durable_deadline_ns, lease.deadline_ns), now);
  return left >= kDurableSecondsMin ? left : 0;
}

std::uint32_t LeaseEngine::Impl::OwnLease(const Exchange& exchange) {
  const std::uint32_t own = clients.Find(exchange.client, exchange.subnet_index);
  if (own != kNoLease) Refresh(own, exchange.now);
  return own;
}

bool LeaseEngine::Impl::IsKnown(std::uint32_t own) const {
  return own != kNoLease && table[own].acknowledged;
}

bool LeaseEngine::Impl::IsHostAddress(const LinkView& link, Ipv4Address address) const {
  if (link.host_addresses == nullptr) return false;
  return std::find(link.host_addresses->begin(), link.host_addresses->end(), address) !=
         link.host_addresses->end();
}

bool LeaseEngine::Impl::NamesThisServer(const Exchange& exchange, Ipv4Address identifier) const {
  if (identifier == exchange.server_identifier) return true;
  if (exchange.subnet->server_identifier == identifier) return true;
  const auto is_identifier = [identifier](const LinkView::Address& own) {
    return own.address == identifier;
  };
  return IsHostAddress(exchange.link, identifier) ||
         std::any_of(exchange.link.addresses.begin(), exchange.link.addresses.end(), is_identifier);
}

namespace {

// Option 54 for a client of the subnet: what the relay put in the server's place (RFC 5107), what
// is configured, or an address of the interface, that next to the client before the others. Never
// one of another interface: the client could not reach a loopback or link-local address there, and
// would name it in each message from then on (RFC 2131 section 4.1).
std::optional<Ipv4Address> ServerIdentifier(const Exchange& exchange) {
  if (const auto override_by_relay = FindRelayAddress(exchange.message, kServerIdentifierOverride);
      override_by_relay && override_by_relay->IsUnicastHost()) {
    return override_by_relay;
  }
  if (exchange.subnet->server_identifier) return exchange.subnet->server_identifier;
  for (const LinkView::Address& own : exchange.link.addresses) {
    if (exchange.subnet->prefix.Contains(own.address) && !own.address.IsLoopback()) {
      return own.address;
    }
  }
  if (exchange.link.addresses.empty()) return std::nullopt;
  return exchange.link.addresses.front().address;
}

void Reset(Decision& decision) {
  decision.kind = Decision::Kind::kDrop;
  decision.drop_reason = DropReason::kServerMessage;
  decision.reply_type = MessageType{};
  decision.yiaddr = decision.server_identifier = Ipv4Address();
  decision.subnet = nullptr;
  decision.lease_time_s = decision.t1_s = decision.t2_s = 0;
  decision.text = {};
  decision.gate = CommitSeq();
  decision.has_mutation = false;
}

// RELEASE and DECLINE name the address they are about, and that tells the subnet: a RELEASE may
// come from anywhere.
std::optional<Ipv4Address> AddressGivenUp(const Message& message) {
  if (message.type == MessageType::kRelease) return message.header.ciaddr;
  return message.options.FindAddress(OptionCode::kRequestedAddress);
}

}  // namespace

LeaseEngine::LeaseEngine(EngineConfig config, std::uint64_t seed)
    : impl_(std::make_unique<Impl>(std::move(config), seed)) {}

LeaseEngine::~LeaseEngine() = default;

bool LeaseEngine::Load(const LeaseRecord& record, const Now& now) {
  return impl_->Load(record, now);
}

void LeaseEngine::Handle(const Message& message, const LinkView& link, const Now& now,
                         bool store_ok, Decision& decision) {
  Reset(decision);
  Impl& impl = *impl_;
  Exchange exchange{message, link, now, store_ok, decision};
  if (!message.header.giaddr.IsZero() &&
      (!message.header.giaddr.IsUnicastHost() || impl.IsHostAddress(link, message.header.giaddr))) {
    return impl.Drop(exchange, DropReason::kBadGiaddr);
  }
  const auto client = Identify(message);
  if (!client) return impl.Drop(exchange, DropReason::kNoIdentity);
  exchange.client = *client;

  const bool gives_up =
      message.type == MessageType::kRelease || message.type == MessageType::kDecline;
  if (gives_up) {
    const auto address = AddressGivenUp(message);
    exchange.subnet_index = address ? impl.selector.Containing(*address) : kNoSubnetIndex;
    if (exchange.subnet_index == kNoSubnetIndex) {
      return impl.Drop(exchange, DropReason::kNotHolder);
    }
  } else {
    exchange.subnet_index = impl.selector.Select(message, link);
    if (exchange.subnet_index == kNoSubnetIndex) {
      return impl.Drop(exchange, DropReason::kNoSubnet);
    }
  }
  exchange.subnet = &impl.config.subnets[exchange.subnet_index];
  const auto identifier = ServerIdentifier(exchange);
  // What gives up an address needs no answer, so no address to answer from.
  if (!identifier && !gives_up) return impl.Drop(exchange, DropReason::kNoServerAddress);
  exchange.server_identifier = identifier.value_or(Ipv4Address());

  switch (message.type) {
    case MessageType::kDiscover:
      return impl.Discover(exchange);
    case MessageType::kRequest:
      return impl.Request(exchange);
    case MessageType::kDecline:
      return impl.Decline(exchange);
    case MessageType::kRelease:
      return impl.Release(exchange);
    case MessageType::kInform:
      return impl.Inform(exchange);
    case MessageType::kOffer:
    case MessageType::kAck:
    case MessageType::kNak:
      return impl.Drop(exchange, DropReason::kServerMessage);
  }
  impl.Drop(exchange, DropReason::kUnsupportedMessage);
}

void LeaseEngine::OnQueued(Ipv4Address address, CommitSeq seq) {
  const std::uint32_t index = impl_->table.Find(address);
  RINGDHCP_CHECK(index != kNoLease);
  impl_->table[index].pending_seq = seq.value;
}

void LeaseEngine::OnDurable(std::span<const LeaseRecord> rows, CommitSeq durable) {
  for (const LeaseRecord& row : rows) {
    const std::uint32_t index = impl_->table.Find(row.address);
    if (index == kNoLease) continue;
    Lease& lease = impl_->table[index];
    // A newer row of the address may be on its way: that one counts.
    if (lease.pending_seq > durable.value) {
      RINGDHCP_PROBE(newer_row_on_its_way);
      continue;
    }
    lease.pending_seq = 0;
    if (lease.state == LeaseState::kBound && !lease.prolonged) {
      lease.durable_deadline_ns = lease.deadline_ns;
    }
  }
}

std::size_t LeaseEngine::Tick(const Now& now, std::size_t budget) {
  return impl_->Tick(now, budget);
}

std::vector<SubnetCounts> LeaseEngine::Counts() const { return impl_->counts; }

const EngineConfig& LeaseEngine::config() const { return impl_->config; }

}  // namespace ringdhcp
