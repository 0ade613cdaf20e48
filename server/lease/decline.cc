#include "server/base/canary.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

// RFC 2131 section 4.3.3: the address is in use by somebody unknown. Only the holder of the lease
// may say so, else one host could empty the pool. Option 54 is not insisted on.
void LeaseEngine::Impl::Decline(Exchange& exchange) {
  const OptionSet& options = exchange.message.options;
  const auto server = options.FindAddress(OptionCode::kServerIdentifier);
  if (server && !NamesThisServer(exchange, *server)) {
    return Drop(exchange, DropReason::kOtherServer);
  }
  const auto address = options.FindAddress(OptionCode::kRequestedAddress);
  const std::uint32_t index = address ? table.Find(*address) : kNoLease;
  if (index == kNoLease) return Drop(exchange, DropReason::kNotHolder);
  Refresh(index, exchange.now);
  Lease& lease = table[index];
  if (lease.state != LeaseState::kBound || !(lease.client == exchange.client)) {
    return Drop(exchange, DropReason::kNotHolder);
  }
  if (!exchange.store_ok) return Drop(exchange, DropReason::kStoreUnavailable);

  Detach(index);
  const Now& now = exchange.now;
  lease.prolonged = false;
  const std::int64_t probation_s =
      RINGDHCP_CANARY(declined_reused) ? 1 : std::int64_t{config.decline_probation_s};
  lease.deadline_ns = now.monotonic_ns + probation_s * kNanosecondsPerSecond;
  RINGDHCP_PROBE(declined);
  lease.expires_wall_s = now.wall_s + config.decline_probation_s;
  SetState(index, LeaseState::kDeclined);
  Mutate(exchange, index);
  // The client has no address now and gets another one.
  Dissociate(index);
  wheel.Start(index, now.monotonic_ns);
  Drop(exchange, DropReason::kNoReplyNeeded);
}

}  // namespace ringdhcp
