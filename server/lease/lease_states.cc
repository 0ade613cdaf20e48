#include <algorithm>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/base/probe.h"
#include "server/lease/engine_impl.h"

namespace ringdhcp {

namespace {

// Timers moved down the wheel for each expiry that a tick may handle.
constexpr std::size_t kMovesPerExpiry = 4;

ClientKey KeyOf(const LeaseRecord& record) {
  if (record.client_id_length >= 2) return ClientKey::FromClientId(record.ClientId());
  return ClientKey::FromHardwareAddress(record.htype, record.HardwareAddress());
}

// Of two stored rows of one client in one subnet, the one to go on with: a lease that runs before
// one that is over, then the later one.
bool IsNewer(const Lease& a, const Lease& b) {
  const bool a_bound = a.state == LeaseState::kBound;
  const bool b_bound = b.state == LeaseState::kBound;
  if (a_bound != b_bound) return a_bound;
  if (a.starts_wall_s != b.starts_wall_s) return a.starts_wall_s > b.starts_wall_s;
  return a.expires_wall_s > b.expires_wall_s;
}

}  // namespace

void LeaseEngine::Impl::SetState(std::uint32_t index, LeaseState state) {
  Lease& lease = table[index];
  SubnetCounts& count = counts[lease.subnet];
  const auto of = [&count](LeaseState s) -> std::uint64_t& {
    switch (s) {
      case LeaseState::kBound:
        return count.bound;
      case LeaseState::kOffered:
        return count.offered;
      case LeaseState::kDeclined:
        return count.declined;
      default:
        return count.free;
    }
  };
  --of(lease.state);
  ++of(state);
  lease.state = state;
}

void LeaseEngine::Impl::Detach(std::uint32_t index) {
  if (table[index].IsAvailable()) {
    allocator.Take(index);
  } else {
    wheel.Stop(index);
  }
}

void LeaseEngine::Impl::Dissociate(std::uint32_t index) {
  Lease& lease = table[index];
  if (lease.indexed) clients.Erase(index);
  lease.indexed = false;
  lease.acknowledged = false;
  lease.client = ClientKey{};
  lease.durable_deadline_ns = 0;
  lease.offered_s = 0;
  details.Free(lease.details);
  lease.details = 0;
}

void LeaseEngine::Impl::Associate(std::uint32_t index, const ClientKey& client) {
  Lease& lease = table[index];
  if (lease.indexed && lease.client == client) return;
  if (!(lease.client == client)) Dissociate(index);
  const std::uint32_t other = clients.Find(client, lease.subnet);
  if (other != kNoLease) {
    if (table[other].state == LeaseState::kOffered) {
      RINGDHCP_PROBE(offer_ends_with_another_address_taken);
      Expire(other);
    }
    // A lease that still runs stays the client's until it ends; only the index forgets it.
    if (table[other].state == LeaseState::kBound) {
      RINGDHCP_PROBE(client_takes_a_second_lease);
      clients.Erase(other);
      table[other].indexed = false;
    } else {
      RINGDHCP_CHECK(table[other].IsAvailable());
      Dissociate(other);
    }
  }
  lease.client = client;
  clients.Insert(index);
  lease.indexed = true;
}

void LeaseEngine::Impl::GiveBack(std::uint32_t index, LeaseState state) {
  Lease& lease = table[index];
  lease.deadline_ns = 0;
  lease.durable_deadline_ns = 0;
  lease.prolonged = false;
  SetState(index, state);
  allocator.Return(index);
}

void LeaseEngine::Impl::Offer(std::uint32_t index, const ClientKey& client, const Now& now) {
  Lease& lease = table[index];
  Associate(index, client);
  lease.deadline_ns = now.monotonic_ns + config.offer_hold_s * kNanosecondsPerSecond;
  SetState(index, LeaseState::kOffered);
  wheel.Start(index, now.monotonic_ns);
}

// Else a lease that ends between OFFER and REQUEST could go to another client, and what was offered
// would be refused.
void LeaseEngine::Impl::Prolong(std::uint32_t index, const Now& now) {
  Lease& lease = table[index];
  const std::int64_t held_until = now.monotonic_ns + config.offer_hold_s * kNanosecondsPerSecond;
  if (lease.deadline_ns >= held_until) return;
  RINGDHCP_PROBE(lease_prolonged_by_an_offer);
  wheel.Stop(index);
  lease.deadline_ns = held_until;
  lease.prolonged = true;
  wheel.Start(index, now.monotonic_ns);
}

// The client stays remembered, for whom the address is kept as long as nobody else needs it.
void LeaseEngine::Impl::Expire(std::uint32_t index) {
  Lease& lease = table[index];
  wheel.Stop(index);
  if (lease.state == LeaseState::kDeclined || !lease.indexed) {
    if (lease.state == LeaseState::kDeclined) RINGDHCP_PROBE(probation_ends);
    if (lease.state == LeaseState::kBound) RINGDHCP_PROBE(second_lease_expires);
    Dissociate(index);
    GiveBack(index, LeaseState::kFree);
    return;
  }
  GiveBack(index, lease.acknowledged ? LeaseState::kExpired : LeaseState::kFree);
}

void LeaseEngine::Impl::Refresh(std::uint32_t index, const Now& now) {
  const Lease& lease = table[index];
  const bool by_wall = RINGDHCP_CANARY(wall_step_expires) && lease.state == LeaseState::kBound &&
                       lease.expires_wall_s <= now.wall_s;
  if (!lease.IsAvailable() && (by_wall || wheel.DueAt(lease) <= now.monotonic_ns)) Expire(index);
}

std::size_t LeaseEngine::Impl::Tick(const Now& now, std::size_t budget) {
  std::size_t moves = budget * kMovesPerExpiry;
  for (std::size_t expired = 0; expired < budget; ++expired) {
    const std::uint32_t index = wheel.TakeDue(now.monotonic_ns, moves);
    if (index == kNoLease) return moves == 0 ? budget : expired;
    Expire(index);
  }
  return budget;
}

bool LeaseEngine::Impl::Load(const LeaseRecord& record, const Now& now) {
  const std::uint32_t index = table.Find(record.address);
  if (index == kNoLease || record.hlen > kChaddrSize) return false;
  Lease& lease = table[index];
  if (lease.version >= record.version) return true;
  if (record.version % 4 == 0 && RINGDHCP_CANARY(load_forgets)) return true;
  const bool was_available = lease.IsAvailable();
  Detach(index);
  Dissociate(index);
  if (!was_available) SetState(index, LeaseState::kFree);
  lease.version = record.version;
  lease.starts_wall_s = record.starts_wall_s;
  lease.expires_wall_s = record.expires_wall_s;
  lease.htype = record.htype;
  lease.hlen = record.hlen;
  lease.chaddr = record.chaddr;

  // Both ends were cut to whole seconds, so the true end may be up to a second later.
  const bool never = record.expires_wall_s == kNeverExpires;
  const std::int64_t late_s =
      record.state == LeaseState::kBound ? config.reply_delay_max_ns / kNanosecondsPerSecond : 0;
  const bool runs = never || record.expires_wall_s >= now.wall_s - late_s;
  // So the address is kept for a second more, and what is promised anew ends a second earlier.
  lease.deadline_ns = kNeverNs;
  std::int64_t promised_until_ns = kNeverNs;
  if (runs && !never) {
    const std::int64_t left_s = record.expires_wall_s - now.wall_s;
    // Beyond what the clock can count, and beyond any lease there is.
    constexpr std::int64_t kFarthest = std::int64_t{1} << 32;
    lease.deadline_ns =
        now.monotonic_ns + (std::min(left_s, kFarthest) + 1) * kNanosecondsPerSecond;
    promised_until_ns = now.monotonic_ns + (std::clamp<std::int64_t>(left_s, 1, kFarthest) - 1) *
                                               kNanosecondsPerSecond;
  }
  switch (record.state) {
    case LeaseState::kBound:
      if (runs) {
        lease.durable_deadline_ns = promised_until_ns;
        SetState(index, LeaseState::kBound);
        wheel.Start(index, now.monotonic_ns);
      } else {
        RINGDHCP_PROBE(expired_lease_loaded);
        GiveBack(index, LeaseState::kExpired);
      }
      LoadClient(index, record);
      return true;
    case LeaseState::kReleased:
    case LeaseState::kExpired:
      GiveBack(index, record.state);
      LoadClient(index, record);
      return true;
    case LeaseState::kDeclined:
      if (runs) {
        RINGDHCP_PROBE(declined_address_loaded);
        SetState(index, LeaseState::kDeclined);
        wheel.Start(index, now.monotonic_ns);
      } else {
        RINGDHCP_PROBE(ended_probation_loaded);
        GiveBack(index, LeaseState::kFree);
      }
      return true;
    case LeaseState::kFree:
    case LeaseState::kOffered:
      break;
  }
  GiveBack(index, LeaseState::kFree);
  return true;
}

void LeaseEngine::Impl::LoadClient(std::uint32_t index, const LeaseRecord& record) {
  Lease& lease = table[index];
  const ClientKey client = KeyOf(record);
  const std::uint32_t other = clients.Find(client, lease.subnet);
  lease.acknowledged = true;
  lease.client = client;
  lease.details = details.Set(lease.details, {record.HostName(), record.RelayInformation()});
  if (other != kNoLease) {
    RINGDHCP_PROBE(two_rows_of_a_client_loaded);
    if (!IsNewer(lease, table[other])) {
      // Still the client's while it runs.
      if (lease.state != LeaseState::kBound) Dissociate(index);
      return;
    }
    clients.Erase(other);
    table[other].indexed = false;
    if (table[other].state != LeaseState::kBound) Dissociate(other);
  }
  clients.Insert(index);
  lease.indexed = true;
}

}  // namespace ringdhcp
