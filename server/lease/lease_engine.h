#ifndef RINGDHCP_SERVER_LEASE_LEASE_ENGINE_H_
#define RINGDHCP_SERVER_LEASE_LEASE_ENGINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/clock.h"
#include "server/base/ids.h"
#include "server/base/prng.h"
#include "server/dhcp4/drop_reason.h"
#include "server/dhcp4/message.h"
#include "server/lease/lease.h"
#include "server/lease/subnet.h"

namespace ringdhcp {

struct EngineConfig {
  std::vector<Subnet> subnets;  // ascending by prefix, disjoint
  std::uint32_t offer_hold_s = 30;
  std::uint32_t decline_probation_s = 900;
  double cache_threshold = 0.1;  // fraction of the lease, 0-0.5
  /// The longest time between a decision and the moment its ACK leaves. Clients may count their
  /// lease from the ACK, so for this long after its end a lease is kept from others.
  std::int64_t reply_delay_max_ns = 0;
};

/// The link a packet arrived on, and how. Owned by the shard; changes only between packets.
struct LinkView {
  std::string name;
  /// The interface's addresses with their prefixes. The server identifier is the first one in the
  /// client's subnet, else the first one, unless one is configured.
  struct Address {
    Ipv4Address address;
    Ipv4Prefix prefix;
  };
  std::vector<Address> addresses;
  /// Addresses of all interfaces of this host: never leased, and valid as option 54.
  const std::vector<Ipv4Address>* host_addresses = nullptr;
  /// The packet at hand was sent to a broadcast address.
  bool broadcast = false;

  /// Whether `address` is in a network of the interface.
  bool IsOnLink(Ipv4Address address) const {
    return std::any_of(addresses.begin(), addresses.end(),
                       [address](const Address& own) { return own.prefix.Contains(address); });
  }
};

/// What the engine decided about one packet. The caller keeps one and passes it again and again.
struct Decision {
  enum class Kind : std::uint8_t { kDrop, kReply };
  Kind kind = Kind::kDrop;
  DropReason drop_reason{};

  // Reply:
  MessageType reply_type{};
  Ipv4Address yiaddr;              // 0 in NAK and in the ACK to INFORM
  Ipv4Address server_identifier;   // option 54
  const Subnet* subnet = nullptr;  // of the client's link; never null in a reply
  std::uint32_t lease_time_s = 0;  // option 51; 0: left out (NAK, INFORM)
  std::uint32_t t1_s = 0;          // option 58; 0: left out
  std::uint32_t t2_s = 0;          // option 59; 0: left out
  std::string_view text;           // option 56 of a NAK; static storage

  /// The reply may leave once this is durable; value 0: at once.
  CommitSeq gate;

  /// A row to store, with a reply (ACK) or without (RELEASE, DECLINE). When set, the caller must
  /// queue `mutation` and tell OnQueued its number, which is then the reply's gate.
  bool has_mutation = false;
  LeaseRecord mutation;
};

struct SubnetCounts {
  SubnetId id;
  std::uint64_t total = 0;  // addresses in pools, less network and broadcast addresses
  std::uint64_t bound = 0;
  std::uint64_t offered = 0;
  std::uint64_t declined = 0;
  std::uint64_t free = 0;  // total - bound - offered - declined
};

/// Leases and the decisions over them: DISCOVER, REQUEST (RFC 2131 section 4.3.2), DECLINE,
/// RELEASE, INFORM. Pure: no I/O, no clock of its own, no threads; deterministic for a seed.
/// All memory for leases is reserved at construction from the pools' size (about 210 octets an
/// address, which cost nothing until the address is used); Handle does not allocate. Expiry is not
/// stored: it follows from a row's expires_wall_s. One thread.
class LeaseEngine {
 public:
  /// The configured pools together may have at most 2^27 addresses (checked).
  LeaseEngine(EngineConfig config, std::uint64_t seed);
  ~LeaseEngine();
  LeaseEngine(const LeaseEngine&) = delete;
  LeaseEngine& operator=(const LeaseEngine&) = delete;

  /// Takes one stored row before service starts. A row outside every pool is ignored (returns
  /// false) but its address stays known to nobody. Expiry continues from the wall clock.
  bool Load(const LeaseRecord& record, const Now& now);

  /// Decides about one message. `store_ok` false: the lease store is failing, so nothing new is
  /// promised: renewals whose durable lease lasts at least a minute get the remaining time without
  /// a write, everything else that would need a write is dropped (kStoreUnavailable).
  void Handle(const Message& message, const LinkView& link, const Now& now, bool store_ok,
              Decision& decision);

  /// The mutation of the last decision for `address` was queued as `seq`.
  void OnQueued(Ipv4Address address, CommitSeq seq);
  /// These rows are durable now, all with numbers <= durable.
  void OnDurable(std::span<const LeaseRecord> rows, CommitSeq durable);

  /// Expires leases, offers and probations that are due, at most `budget` of them. Returns how
  /// many; equal to `budget` means that there may be more.
  std::size_t Tick(const Now& now, std::size_t budget);

  std::vector<SubnetCounts> Counts() const;
  const EngineConfig& config() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_LEASE_ENGINE_H_
