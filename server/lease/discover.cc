#include <algorithm>
#include <span>

#include "server/base/canary.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

namespace {

// Expiries worked off at once when no address is left, so that a late tick costs nobody an offer.
constexpr std::size_t kExpiriesWhenExhausted = 8;

std::span<const Ipv4Address> HostAddresses(const LinkView& link) {
  if (link.host_addresses == nullptr) return {};
  return *link.host_addresses;
}

}  // namespace

// RFC 2131 section 4.3.1: the client's current address, its previous one, the one it asks for, or
// any other. The OFFER states the time that the ACK will grant, also to a client that has a lease.
// An offer is held in memory only: a flood of DISCOVERs costs the pool at most `offer_hold_s`.
void LeaseEngine::Impl::Discover(Exchange& exchange) {
  if (RINGDHCP_CANARY(unseeded_choice)) return Drop(exchange, DropReason::kPoolExhausted);
  const std::uint32_t wanted = WantedTime(exchange);
  std::uint32_t own = OwnLease(exchange);
  if (own != kNoLease && IsHostAddress(exchange.link, table[own].address)) {
    if (table[own].state == LeaseState::kOffered) Expire(own);
    own = kNoLease;
  }

  if (own != kNoLease && table[own].state == LeaseState::kBound) {
    std::uint32_t time_s = wanted;
    if (!exchange.store_ok) {
      time_s = std::min(wanted, DurableSeconds(table[own], exchange.now));
      if (time_s == 0) return Drop(exchange, DropReason::kStoreUnavailable);
      RINGDHCP_PROBE(bound_client_offered_while_store_fails);
    }
    Prolong(own, exchange.now);
    table[own].offered_s = time_s;
    return Reply(exchange, MessageType::kOffer, table[own].address, time_s);
  }
  // The REQUEST that follows would have to be written.
  if (!exchange.store_ok) return Drop(exchange, DropReason::kStoreUnavailable);

  std::uint32_t chosen = own;
  if (chosen == kNoLease) {
    const auto requested = exchange.message.options.FindAddress(OptionCode::kRequestedAddress);
    if (requested && exchange.subnet->prefix.Contains(*requested) &&
        !IsHostAddress(exchange.link, *requested)) {
      chosen = table.Find(*requested);
    }
    if (chosen != kNoLease) {
      Refresh(chosen, exchange.now);
      if (!table[chosen].IsAvailable()) chosen = kNoLease;
    }
  }
  if (chosen != kNoLease) {
    Detach(chosen);
  } else {
    const std::span<const Ipv4Address> excluded = HostAddresses(exchange.link);
    chosen = allocator.TakeNext(exchange.subnet_index, excluded);
    if (chosen == kNoLease && Tick(exchange.now, kExpiriesWhenExhausted) > 0) {
      RINGDHCP_PROBE(late_tick_makes_room);
      chosen = allocator.TakeNext(exchange.subnet_index, excluded);
    }
    if (chosen == kNoLease) {
      RINGDHCP_PROBE(pool_exhausted);
      return Drop(exchange, DropReason::kPoolExhausted);
    }
  }
  Offer(chosen, exchange.client, exchange.now);
  table[chosen].offered_s = wanted;
  Reply(exchange, MessageType::kOffer, table[chosen].address, wanted);
}

}  // namespace ringdhcp
