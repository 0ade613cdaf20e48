#include "server/base/canary.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

// RFC 2131 section 4.3.4: the address is free at once, but remembered for the client, which gets it
// again if it comes back before somebody else needs it.
void LeaseEngine::Impl::Release(Exchange& exchange) {
  const auto server = exchange.message.options.FindAddress(OptionCode::kServerIdentifier);
  if (server && !NamesThisServer(exchange, *server)) {
    return Drop(exchange, DropReason::kOtherServer);
  }
  const std::uint32_t index = table.Find(exchange.message.header.ciaddr);
  if (index == kNoLease) return Drop(exchange, DropReason::kNotHolder);
  Refresh(index, exchange.now);
  Lease& lease = table[index];
  if (lease.state != LeaseState::kBound ||
      (!(lease.client == exchange.client) && !RINGDHCP_CANARY(anyone_releases))) {
    return Drop(exchange, DropReason::kNotHolder);
  }
  if (!exchange.store_ok) return Drop(exchange, DropReason::kStoreUnavailable);

  Detach(index);
  lease.expires_wall_s = exchange.now.wall_s;
  GiveBack(index, LeaseState::kReleased);
  Mutate(exchange, index);
  if (!lease.indexed) {
    RINGDHCP_PROBE(second_lease_released);
    Dissociate(index);
  }
  Drop(exchange, DropReason::kNoReplyNeeded);
}

}  // namespace ringdhcp
