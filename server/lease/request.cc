#include <algorithm>
#include <string_view>

#include "server/base/buggify.h"
#include "server/base/canary.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

namespace {

constexpr std::string_view kWrongNetwork = "requested address is on another network";
constexpr std::string_view kNotAvailable = "requested address is not available";
constexpr std::string_view kNotYours = "requested address is not leased to this client";

}  // namespace

void LeaseEngine::Impl::Request(Exchange& exchange) {
  if (exchange.message.options.Has(OptionCode::kServerIdentifier)) {
    const auto chosen = exchange.message.options.FindAddress(OptionCode::kServerIdentifier);
    if (!chosen) return Drop(exchange, DropReason::kInvalidRequest);
    if (!NamesThisServer(exchange, *chosen) && !RINGDHCP_CANARY(other_server_ignored)) {
      // RFC 2131 section 3.1: to the other servers this REQUEST says no.
      const std::uint32_t own = OwnLease(exchange);
      if (own != kNoLease && table[own].state == LeaseState::kOffered) {
        RINGDHCP_PROBE(offer_ends_with_another_server_chosen);
        Expire(own);
      }
      return Drop(exchange, DropReason::kOtherServer);
    }
  }
  const RequestedLease requested = ClassifyRequest(exchange.message);
  switch (requested.kind) {
    case RequestKind::kSelecting:
      return Selecting(exchange, requested.address);
    case RequestKind::kInitReboot:
      return InitReboot(exchange, requested.address);
    case RequestKind::kRenewing:
      return Renewing(exchange, requested.address);
    case RequestKind::kInvalid:
      break;
  }
  Drop(exchange, DropReason::kInvalidRequest);
}

// The client chose this server, so no other one will answer: always an ACK or a NAK. An address we
// did not offer is granted if it is free and the client has none: the offer was made before a
// restart or its hold has ended.
void LeaseEngine::Impl::Selecting(Exchange& exchange, Ipv4Address address) {
  if (!exchange.subnet->prefix.Contains(address)) return Nak(exchange, kWrongNetwork);
  const std::uint32_t index = table.Find(address);
  if (index == kNoLease) return Nak(exchange, kNotAvailable);
  Refresh(index, exchange.now);
  if (table[index].IsHeldBy(exchange.client)) return Acknowledge(exchange, index, false);
  if (!table[index].IsAvailable() && !RINGDHCP_CANARY(given_while_held)) {
    return Nak(exchange, kNotAvailable);
  }
  const std::uint32_t own = OwnLease(exchange);
  if (own != kNoLease && !table[own].IsAvailable()) {
    RINGDHCP_PROBE(selects_another_than_its_own);
    return Nak(exchange, kNotYours);
  }
  RINGDHCP_PROBE(selects_without_offer);
  Acknowledge(exchange, index, false);
}

// The client remembers an address and wants to know whether it may still use it. Without a record
// of the client a server "MUST remain silent", unless it is the only authority on this network.
void LeaseEngine::Impl::InitReboot(Exchange& exchange, Ipv4Address address) {
  if (!exchange.subnet->prefix.Contains(address)) {
    const bool on_link = exchange.message.header.giaddr.IsZero() &&
                         std::any_of(exchange.link.addresses.begin(), exchange.link.addresses.end(),
                                     [address](const LinkView::Address& own) {
                                       return own.prefix.Contains(address);
                                     });
    // The link may carry a second network, which need not be ours to judge.
    return NakOrSilence(exchange, !on_link || exchange.subnet->authoritative, kWrongNetwork);
  }
  const std::uint32_t own = OwnLease(exchange);
  const std::uint32_t index = table.Find(address);
  if (index != kNoLease) {
    Refresh(index, exchange.now);
    const bool was_own = index == own && IsKnown(own);
    if (RINGDHCP_CANARY(reboot_refused)) return Nak(exchange, kNotYours);
    if (was_own && table[index].IsAvailable()) RINGDHCP_PROBE(reboot_with_expired_lease);
    if (was_own || table[index].IsHeldBy(exchange.client)) {
      return Acknowledge(exchange, index, false);
    }
  }
  NakOrSilence(exchange, IsKnown(own) || exchange.subnet->authoritative, kNotYours);
}

void LeaseEngine::Impl::Renewing(Exchange& exchange, Ipv4Address address) {
  const std::uint32_t own = OwnLease(exchange);
  const bool judge = IsKnown(own) || exchange.subnet->authoritative;
  if (!exchange.subnet->prefix.Contains(address)) {
    // The client may have moved here from another network of ours, where it has its record. A
    // relay may have both networks behind it and name only one.
    const bool direct = exchange.message.header.giaddr.IsZero();
    const std::uint32_t there = direct ? selector.Containing(address) : kNoSubnetIndex;
    const bool came_from_there =
        there != kNoSubnetIndex && IsKnown(clients.Find(exchange.client, there));
    return NakOrSilence(exchange, judge || came_from_there, kWrongNetwork);
  }
  const std::uint32_t index = table.Find(address);
  if (index == kNoLease) return NakOrSilence(exchange, judge, kNotYours);
  Refresh(index, exchange.now);
  const Lease& lease = table[index];
  const bool was_own = index == own && lease.acknowledged;
  if (was_own && lease.IsAvailable()) RINGDHCP_PROBE(renews_expired_lease);
  if (was_own || lease.IsHeldBy(exchange.client)) return Acknowledge(exchange, index, true);
  const bool with_another =
      lease.state == LeaseState::kBound || lease.state == LeaseState::kOffered;
  NakOrSilence(exchange, with_another || judge, kNotYours);
}

void LeaseEngine::Impl::NakOrSilence(Exchange& exchange, bool nak, std::string_view text) {
  if (nak) return Nak(exchange, text);
  RINGDHCP_PROBE(unknown_client);
  Drop(exchange, DropReason::kUnknownClient);
}

ClientDetails::View LeaseEngine::Impl::DetailsOf(const Exchange& exchange, std::uint32_t index,
                                                 bool renewing) {
  const OptionSet& options = exchange.message.options;
  ClientDetails::View view;
  view.host_name = options.Find(OptionCode::kHostName).value_or(view.host_name);
  view.relay_information =
      options.Find(OptionCode::kRelayAgentInformation).value_or(view.relay_information);
  if (!renewing) return view;
  // A renewal goes past the relay, and often has no name.
  const bool keep_name = view.host_name.empty();
  const bool keep_relay = view.relay_information.empty() && exchange.message.header.giaddr.IsZero();
  if (!keep_name && !keep_relay) return view;
  scratch.host_name_length = scratch.relay_information_length = 0;
  details.CopyTo(table[index].details, scratch);
  if (keep_name) view.host_name = scratch.HostName();
  if (keep_relay) view.relay_information = scratch.RelayInformation();
  return view;
}

namespace {

// Whether the lease as recorded answers this REQUEST: it is a retransmission while the row is still
// on its way, or a renewal so early that a new row would add next to nothing.
bool RecordSuffices(const Lease& lease, std::uint32_t left, std::uint32_t wanted,
                    double cache_threshold) {
  if (left > wanted || lease.prolonged) return false;
  const std::uint32_t gone = wanted - left;
  if (lease.pending_seq != 0) return gone <= wanted / 2;
  return cache_threshold > 0 && gone <= cache_threshold * wanted;
}

bool SameHardware(const Lease& lease, const Header& header) {
  return lease.htype == header.htype && lease.hlen == header.hlen && lease.chaddr == header.chaddr;
}

}  // namespace

void LeaseEngine::Impl::Acknowledge(Exchange& exchange, std::uint32_t index, bool renewing) {
  Lease& lease = table[index];
  const Header& header = exchange.message.header;
  const Now& now = exchange.now;
  if (IsHostAddress(exchange.link, table.AddressOf(index))) return Nak(exchange, kNotAvailable);
  const std::uint32_t wanted = TimeToGrant(exchange, lease);
  const bool extends = lease.state == LeaseState::kBound;
  if (!exchange.store_ok) {
    const std::uint32_t left = extends ? DurableSeconds(lease, now) : 0;
    if (left == 0) return Drop(exchange, DropReason::kStoreUnavailable);
    RINGDHCP_PROBE(renewed_while_store_fails);
    if (RINGDHCP_CANARY(more_than_durable)) {
      return Reply(exchange, MessageType::kAck, lease.address, wanted);
    }
    return Reply(exchange, MessageType::kAck, lease.address, std::min(left, wanted));
  }
  const ClientDetails::View view = DetailsOf(exchange, index, renewing);
  if (extends && SameHardware(lease, header) && details.Equals(lease.details, view)) {
    // With a row under way the ACK waits for it; else only what is stored may be promised.
    const std::int64_t until_ns = lease.pending_seq != 0
                                      ? lease.deadline_ns
                                      : std::min(lease.deadline_ns, lease.durable_deadline_ns);
    const std::uint32_t left = RemainingSeconds(until_ns, now);
    if (RecordSuffices(lease, left, wanted, config.cache_threshold) &&
        !RINGDHCP_BUGGIFY(write_anyway)) {
      if (lease.pending_seq != 0) RINGDHCP_PROBE(retransmission_waits_for_the_row);
      if (lease.pending_seq == 0) RINGDHCP_PROBE(answered_from_the_record);
      exchange.decision.gate = CommitSeq(lease.pending_seq);
      if (RINGDHCP_CANARY(retransmission_not_gated)) exchange.decision.gate = CommitSeq();
      return Reply(exchange, MessageType::kAck, lease.address, left);
    }
  }

  std::int64_t deadline_ns = kNeverNs;
  if (wanted != kInfiniteSeconds) {
    deadline_ns = now.monotonic_ns + std::int64_t{wanted} * kNanosecondsPerSecond;
  }
  Detach(index);
  Associate(index, exchange.client);
  // A shorter time does not take back the longer one granted before: this ACK may get lost.
  if (extends) deadline_ns = std::max(deadline_ns, lease.deadline_ns);
  lease.deadline_ns = deadline_ns;
  lease.prolonged = false;
  lease.starts_wall_s = now.wall_s;
  lease.expires_wall_s = kNeverExpires;
  if (deadline_ns != kNeverNs) {
    const std::int64_t left_ns = deadline_ns - now.monotonic_ns;
    lease.expires_wall_s =
        now.wall_s + (left_ns + kNanosecondsPerSecond - 1) / kNanosecondsPerSecond;
  }
  lease.htype = header.htype;
  lease.hlen = header.hlen;
  lease.chaddr = header.chaddr;
  lease.acknowledged = true;
  lease.details = details.Set(lease.details, view);
  SetState(index, LeaseState::kBound);
  wheel.Start(index, now.monotonic_ns);
  Mutate(exchange, index);
  Reply(exchange, MessageType::kAck, lease.address, wanted);
}

}  // namespace ringdhcp
