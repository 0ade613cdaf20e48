#ifndef RINGDHCP_SERVER_LEASE_ENGINE_IMPL_H_
#define RINGDHCP_SERVER_LEASE_ENGINE_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "server/base/clock.h"
#include "server/dhcp4/client_key.h"
#include "server/dhcp4/message.h"
#include "server/lease/address_allocator.h"
#include "server/lease/client_details.h"
#include "server/lease/client_index.h"
#include "server/lease/expiry_wheel.h"
#include "server/lease/lease_engine.h"
#include "server/lease/lease_table.h"
#include "server/lease/request_kind.h"
#include "server/lease/subnet_selector.h"

namespace ringdhcp {

/// One message on its way through the engine.
struct Exchange {
  const Message& message;
  const LinkView& link;
  const Now& now;
  bool store_ok;
  Decision& decision;
  ClientKey client{};
  std::uint32_t subnet_index = kNoSubnetIndex;
  const Subnet* subnet = nullptr;
  Ipv4Address server_identifier{};
};

/// The engine's state. The rules for each message type are in a file of its own (discover.cc,
/// request.cc, decline.cc, release.cc, inform.cc), the moves between lease states in
/// lease_states.cc. An address is always in one place: never used, in the free list (kFree,
/// kReleased, kExpired), or timed by the wheel (kOffered, kDeclined, kBound unless it never ends).
struct LeaseEngine::Impl {
  Impl(EngineConfig engine_config, std::uint64_t seed);

  // Messages. Each fills exchange.decision.
  void Discover(Exchange& exchange);
  void Request(Exchange& exchange);
  void Decline(Exchange& exchange);
  void Release(Exchange& exchange);
  void Inform(Exchange& exchange);

  // Parts of Request.
  void Selecting(Exchange& exchange, Ipv4Address address);
  void InitReboot(Exchange& exchange, Ipv4Address address);
  void Renewing(Exchange& exchange, Ipv4Address address);
  void NakOrSilence(Exchange& exchange, bool nak, std::string_view text);
  /// Ends a DHCPREQUEST with an ACK for `index`, which `exchange.client` may have, or with a drop.
  /// `renewing` keeps what the message does not repeat: host name and relay information.
  void Acknowledge(Exchange& exchange, std::uint32_t index, bool renewing);

  // Answers.
  void Drop(Exchange& exchange, DropReason reason) const;
  void Nak(Exchange& exchange, std::string_view text) const;
  void Reply(Exchange& exchange, MessageType type, Ipv4Address yiaddr,
             std::uint32_t lease_time_s) const;
  /// The new row of `index`, whose lease is already as it shall be; counts its version up.
  void Mutate(Exchange& exchange, std::uint32_t index);

  // Questions.
  /// The time to grant: option 51 within the subnet's bounds, else its default.
  std::uint32_t WantedTime(const Exchange& exchange) const;
  /// The time to acknowledge: as WantedTime, but without option 51 a client that takes an OFFER of
  /// `lease` gets the time that was offered (RFC 2131 section 3.1).
  std::uint32_t TimeToGrant(const Exchange& exchange, const Lease& lease) const;
  /// Whole seconds left; kInfiniteSeconds for kNeverNs.
  static std::uint32_t RemainingSeconds(std::int64_t deadline_ns, const Now& now);
  /// What can be promised without a write while the store fails; 0: nothing.
  static std::uint32_t DurableSeconds(const Lease& lease, const Now& now);
  /// The lease the client has, had, or is being offered in its subnet, brought up to date.
  std::uint32_t OwnLease(const Exchange& exchange);
  /// Whether the client has a record: it was acknowledged before (RFC 2131 section 4.3.2).
  bool IsKnown(std::uint32_t own) const;
  bool IsHostAddress(const LinkView& link, Ipv4Address address) const;
  /// Option 54 names this server: one of its addresses, or the identifier it uses for the subnet.
  bool NamesThisServer(const Exchange& exchange, Ipv4Address identifier) const;
  ClientDetails::View DetailsOf(const Exchange& exchange, std::uint32_t index, bool renewing);

  // Moves (lease_states.cc).
  void SetState(std::uint32_t index, LeaseState state);
  /// Ends what is over: an unexpired lease is left alone.
  void Refresh(std::uint32_t index, const Now& now);
  void Expire(std::uint32_t index);
  /// Out of the free list or the wheel.
  void Detach(std::uint32_t index);
  /// Makes `client` the one whom `index` belongs to. `index` must be detached.
  void Associate(std::uint32_t index, const ClientKey& client);
  void Dissociate(std::uint32_t index);
  void Offer(std::uint32_t index, const ClientKey& client, const Now& now);
  /// Keeps a bound lease that is offered to its holder at least for the hold.
  void Prolong(std::uint32_t index, const Now& now);
  void GiveBack(std::uint32_t index, LeaseState state);
  std::size_t Tick(const Now& now, std::size_t budget);
  bool Load(const LeaseRecord& record, const Now& now);
  /// The client of a loaded row: of several rows of one client the newest is its lease.
  void LoadClient(std::uint32_t index, const LeaseRecord& record);

  EngineConfig config;
  LeaseTable table;
  AddressAllocator allocator;
  ExpiryWheel wheel;
  ClientIndex clients;
  ClientDetails details;
  SubnetSelector selector;
  std::vector<SubnetCounts> counts;
  LeaseRecord scratch;  // details that are carried over from one row to the next
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_ENGINE_IMPL_H_
