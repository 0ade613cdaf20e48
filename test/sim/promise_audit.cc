#include "test/sim/promise_audit.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace ringdhcp::sim {
namespace {

constexpr std::int64_t kSecond = kNanosecondsPerSecond;
// Replies that were decided before something happened may leave so long after it: the longest that
// a reply is held, and waits for its interface, and a turn.
constexpr std::int64_t kReplyDelayMaxNs = 6 * kSecond;
constexpr std::uint32_t kNoSubnet = ~std::uint32_t{0};

std::string IdentityOf(const LeaseRecord& row) {
  if (row.client_id_length >= 2) {
    return "i" + std::string(row.client_id.begin(), row.client_id.begin() + row.client_id_length);
  }
  std::string identity = "h";
  identity.push_back(static_cast<char>(row.htype));
  identity.append(row.chaddr.begin(), row.chaddr.begin() + row.hlen);
  return identity;
}

}  // namespace

PromiseAudit::PromiseAudit(const Options& options, const EventQueue& events, const SimClock& clock,
                           const FaultStore& store, Verdict& verdict)
    : options_(options), events_(events), clock_(clock), store_(store), verdict_(verdict) {}

void PromiseAudit::Fail(const char* invariant, const std::string& what, const Packet& reply,
                        std::uint16_t interface) {
  verdict_.Fail(invariant, absl::StrFormat("%s of %s to station %012x, xid %08x, on if%d: %s",
                                           TypeName(reply.type), reply.yiaddr.ToString(),
                                           reply.Station(), reply.xid, interface, what));
}

bool PromiseAudit::IsServer(Ipv4Address address) const {
  for (std::uint32_t i = 0; i < options_.interfaces; ++i) {
    if (address == ServerOf(i)) return true;
  }
  return false;
}

std::uint32_t PromiseAudit::SubnetOfAddress(Ipv4Address address) const {
  for (std::uint32_t i = 0; i < options_.config.subnets.size(); ++i) {
    if (options_.config.subnets[i].prefix.Contains(address)) return i;
  }
  return kNoSubnet;
}

std::uint32_t PromiseAudit::SubnetOfLink(const Asked& asked) const {
  if (!asked.packet.giaddr.IsZero()) return SubnetOfAddress(asked.packet.giaddr);
  return SubnetOfAddress(ServerOf(asked.interface));
}

void PromiseAudit::OnArrived(std::uint16_t interface, const Packet& packet) {
  ++arrivals_;
  Asked& asked = asked_[{packet.Station(), packet.xid, packet.type}];
  if (asked.first_number == 0) {
    asked.first_ns = now();
    asked.first_number = arrivals_;
  }
  asked.interface = interface;
  asked.packet = packet;
  asked.identity = packet.Identity();
  if (packet.type != kRelease && packet.type != kDecline) return;

  const auto server = packet.FindAddress(kOptionServer);
  if (server && !IsServer(*server)) return;
  const Ipv4Address address = packet.type == kRelease
                                  ? packet.ciaddr
                                  : packet.FindAddress(kOptionRequested).value_or(Ipv4Address());
  gave_up_[{address.value, asked.identity}] = arrivals_;
  const auto promised = promises_.find(address.value);
  if (promised != promises_.end()) {
    std::erase_if(promised->second, [&](const Promise& p) { return p.identity == asked.identity; });
  }
  if (packet.type == kDecline) declined_ns_.try_emplace(address.value, now());
}

const PromiseAudit::Asked* PromiseAudit::FindAsked(const Packet& reply) const {
  const auto find = [&](std::uint8_t type) -> const Asked* {
    const auto found = asked_.find({reply.Station(), reply.xid, type});
    return found == asked_.end() ? nullptr : &found->second;
  };
  if (reply.type == kOffer) return find(kDiscover);
  if (reply.type == kAck && !reply.Find(kOptionLeaseTime)) return find(kInform);
  return find(kRequest);
}

void PromiseAudit::OnReply(const FakeRing::Sent& sent, std::int64_t handed_over_ns) {
  handed_over_ns_ = handed_over_ns;
  const auto reply = Parse(sent.payload);
  if (!reply || reply->op != 2 || sent.payload.size() < 300 ||
      (reply->type != kOffer && reply->type != kAck && reply->type != kNak)) {
    verdict_.Fail("reply-shape", "a datagram that is no DHCP reply left the server");
    return;
  }
  const Asked* asked = FindAsked(*reply);
  if (asked == nullptr || asked->interface != sent.interface.value ||
      asked->identity != reply->Identity()) {
    return Fail("reply-to-request", "no such message arrived there", *reply, sent.interface.value);
  }
  CheckReply(sent, *reply, *asked);
}

void PromiseAudit::CheckReply(const FakeRing::Sent& sent, const Packet& reply, const Asked& asked) {
  CheckRoute(sent, reply, asked);
  CheckRelayInformation(reply, asked);
  const auto chosen = asked.packet.FindAddress(kOptionServer);
  if (reply.FindAddress(kOptionServer) != ServerOf(asked.interface) ||
      (reply.type != kOffer && chosen && !IsServer(*chosen))) {
    Fail("server-id", "the reply names another server, or the client chose another one", reply,
         asked.interface);
  }
  if (reply.type == kNak) return CheckNak(reply, asked);
  if (asked.packet.type == kInform) return;
  CheckTimes(reply, asked);
  CheckAddress(reply, asked);
  CheckHolder(reply, asked);
  if (reply.type == kAck) OnAck(reply, asked);
}

void PromiseAudit::CheckRoute(const FakeRing::Sent& sent, const Packet& reply, const Asked& asked) {
  const Packet& from = asked.packet;
  const bool is_to_station =
      std::equal(sent.hardware_address.begin(), sent.hardware_address.end(), from.chaddr.begin());
  bool right = sent.destination_port == (from.giaddr.IsZero() ? 68 : 67);
  if (!from.giaddr.IsZero()) {
    right = right && sent.destination == from.giaddr && !sent.link_layer;
  } else if (reply.type == kNak) {
    right = right && sent.destination.IsLimitedBroadcast() && !sent.link_layer;
  } else if (from.type != kDiscover && !from.ciaddr.IsZero()) {
    right = right && sent.destination == from.ciaddr;
    if (sent.link_layer) right = right && (from.flags & 0x8000) == 0 && is_to_station;
  } else if ((from.flags & 0x8000) != 0) {
    right = right && sent.destination.IsLimitedBroadcast() && !sent.link_layer;
  } else if (sent.link_layer) {
    right = right && sent.destination == reply.yiaddr && is_to_station;
  }
  if (!right) {
    Fail("reply-route", "it goes to " + sent.destination.ToString(), reply, asked.interface);
  }
}

void PromiseAudit::CheckRelayInformation(const Packet& reply, const Asked& asked) {
  const auto* sent = asked.packet.Find(kOptionRelay);
  const auto* back = reply.Find(kOptionRelay);
  const bool right = sent == nullptr
                         ? back == nullptr
                         : back != nullptr && *back == *sent && reply.relay_information_last;
  if (!right) Fail("option-82", "not as the relay sent it", reply, asked.interface);
}

void PromiseAudit::CheckTimes(const Packet& reply, const Asked& asked) {
  const std::uint32_t lease = reply.FindNumber(kOptionLeaseTime).value_or(0);
  const std::uint32_t t1 = reply.FindNumber(kOptionT1).value_or(0);
  const std::uint32_t t2 = reply.FindNumber(kOptionT2).value_or(0);
  const std::uint32_t max_s = options_.config.subnets.front().lease_times.max_s;
  const bool ordered = lease < 3 || (0 < t1 && t1 < t2 && t2 < lease);
  if (lease == 0 || lease > max_s || !ordered) {
    Fail("reply-shape", absl::StrFormat("times %u, %u, %u", t1, t2, lease), reply, asked.interface);
  }
}

void PromiseAudit::CheckAddress(const Packet& reply, const Asked& asked) {
  const Ipv4Address address = reply.yiaddr;
  // A renewal names its address; else the link or the relay says the network.
  const bool renews = asked.packet.type == kRequest && !asked.packet.ciaddr.IsZero();
  const std::uint32_t subnet = SubnetOfAddress(address);
  bool right = subnet != kNoSubnet && !IsServer(address) &&
               (subnet == SubnetOfLink(asked) || (renews && asked.packet.giaddr.IsZero()));
  if (right) {
    const Subnet& network = options_.config.subnets[subnet];
    right = address != network.prefix.address && address != network.prefix.Broadcast() &&
            std::any_of(network.pools.begin(), network.pools.end(),
                        [address](const Pool& pool) { return pool.Contains(address); });
  }
  if (!right) Fail("pool", "not an address to lease there", reply, asked.interface);
}

void PromiseAudit::CheckHolder(const Packet& reply, const Asked& asked) {
  const auto probation = probation_.find(reply.yiaddr.value);
  if (probation != probation_.end() && probation->second.from_ns <= now() &&
      now() < probation->second.until_ns) {
    Fail("probation", "it was declined and its probation has not ended", reply, asked.interface);
  }
  const auto promised = promises_.find(reply.yiaddr.value);
  if (promised == promises_.end()) return;
  for (const Promise& promise : promised->second) {
    if (promise.identity == asked.identity) continue;
    // An OFFER may have been decided just before and have waited to leave.
    const bool late_offer = reply.type == kOffer && promise.made_ns + kReplyDelayMaxNs > now();
    if (promise.end_by_ack_ns <= now() || late_offer) continue;
    Fail("single-holder",
         absl::StrFormat("it is promised to another client for %d ms more",
                         (promise.end_by_ack_ns - now()) / kNanosecondsPerMillisecond),
         reply, asked.interface);
  }
}

bool PromiseAudit::GaveUpSince(Ipv4Address address, const Asked& asked) const {
  const auto gave_up = gave_up_.find({address.value, asked.identity});
  return gave_up != gave_up_.end() && gave_up->second > asked.first_number;
}

void PromiseAudit::OnAck(const Packet& reply, const Asked& asked) {
  ++acks_;
  const Ipv4Address wanted =
      asked.packet.FindAddress(kOptionRequested).value_or(asked.packet.ciaddr);
  if (reply.yiaddr != wanted) {
    Fail("reply-to-request", "the client asked for " + wanted.ToString(), reply, asked.interface);
  }
  // Whoever gave the address up after the REQUEST has no claim from this ACK.
  if (GaveUpSince(reply.yiaddr, asked)) return;
  const std::uint32_t lease_s = reply.FindNumber(kOptionLeaseTime).value_or(0);
  CheckDurable(reply, asked, lease_s);
  declined_ns_.erase(reply.yiaddr.value);
  std::vector<Promise>& promises = promises_[reply.yiaddr.value];
  std::erase_if(promises, [this](const Promise& p) { return p.end_by_ack_ns <= now(); });
  const std::int64_t lasts_ns = lease_s * kSecond;
  auto known = std::find_if(promises.begin(), promises.end(),
                            [&](const Promise& p) { return p.identity == asked.identity; });
  if (known == promises.end()) {
    promises.push_back({asked.identity, now(), 0, 0});
    known = promises.end() - 1;
  }
  known->end_ns = std::max(known->end_ns, asked.first_ns + lasts_ns);
  known->end_by_ack_ns = std::max(known->end_by_ack_ns, handed_over_ns_ + lasts_ns);
}

void PromiseAudit::CheckDurable(const Packet& reply, const Asked& asked, std::uint32_t lease_s) {
  if (options_.config.durability != Durability::kLocal) return;
  const auto row = store_.rows().find(reply.yiaddr.value);
  if (row == store_.rows().end() || row->second.state != LeaseState::kBound ||
      IdentityOf(row->second) != asked.identity) {
    return Fail("durable-before-ack", "the store has no such lease", reply, asked.interface);
  }
  const LeaseRecord& lease = row->second;
  bool covers = lease.expires_wall_s - lease.starts_wall_s >= lease_s;
  if (!options_.Has(kWall)) {
    covers = covers &&
             clock_.MonotonicOf(lease.expires_wall_s + 1) >= asked.first_ns + lease_s * kSecond;
  }
  if (!covers) {
    Fail("durable-before-ack", "the stored lease ends before the promised one", reply,
         asked.interface);
  }
}

void PromiseAudit::CheckNak(const Packet& reply, const Asked& asked) {
  const Ipv4Address wanted =
      asked.packet.FindAddress(kOptionRequested).value_or(asked.packet.ciaddr);
  if (SubnetOfAddress(wanted) != SubnetOfLink(asked)) return;
  const auto promised = promises_.find(wanted.value);
  if (promised == promises_.end()) return;
  for (const Promise& promise : promised->second) {
    if (promise.identity == asked.identity && promise.made_ns < asked.first_ns &&
        promise.end_ns > now() + kReplyDelayMaxNs) {
      Fail("promise-kept", "the client was promised " + wanted.ToString(), reply, asked.interface);
    }
  }
}

void PromiseAudit::OnStored(const LeaseRecord& row) {
  if (row.state != LeaseState::kDeclined) return;
  const auto declined = declined_ns_.find(row.address.value);
  if (declined == declined_ns_.end()) return;
  // A second less, since the wall clock counts in seconds.
  probation_[row.address.value] = {
      now() + kReplyDelayMaxNs,
      declined->second + (std::int64_t{options_.config.decline_probation_s} - 1) * kSecond};
}

void PromiseAudit::OnCrash() {
  if (options_.config.durability != Durability::kLocal) return;
  for (const auto& [address, promises] : promises_) {
    for (const Promise& promise : promises) {
      if (promise.end_ns <= now()) continue;
      const auto row = store_.rows().find(address);
      if (row != store_.rows().end() && row->second.state == LeaseState::kBound &&
          IdentityOf(row->second) == promise.identity &&
          clock_.MonotonicOf(row->second.expires_wall_s + 1) >= promise.end_ns) {
        continue;
      }
      verdict_.Fail("known-after-crash", "the store does not know the lease of " +
                                             Ipv4Address(address).ToString() +
                                             " that a client was promised");
    }
  }
}

void PromiseAudit::OnLoaded(const std::vector<SubnetCounts>& counts) {
  if (options_.config.durability != Durability::kLocal) return;
  std::vector<std::uint64_t> promised(counts.size());
  for (const auto& [address, promises] : promises_) {
    const bool runs = std::any_of(promises.begin(), promises.end(),
                                  [this](const Promise& p) { return p.end_by_ack_ns > now(); });
    if (runs) ++promised[SubnetOfAddress(Ipv4Address(address))];
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].bound >= promised[i]) continue;
    verdict_.Fail("known-after-crash",
                  absl::StrFormat("%d leases of subnet %d are promised, %d were loaded",
                                  promised[i], counts[i].id.value, counts[i].bound));
  }
}

}  // namespace ringdhcp::sim
