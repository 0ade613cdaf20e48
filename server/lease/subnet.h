#ifndef RINGDHCP_SERVER_LEASE_SUBNET_H_
#define RINGDHCP_SERVER_LEASE_SUBNET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/base/ids.h"
#include "server/base/ipv4.h"

namespace ringdhcp {

/// A lease or T1/T2 of this many seconds never ends (RFC 2131 section 3.3).
inline constexpr std::uint32_t kInfiniteSeconds = 0xFFFFFFFFU;

/// Lease times, seconds; min <= default <= max.
struct LeaseTimes {
  std::uint32_t min_s = 60;
  std::uint32_t default_s = 3600;
  std::uint32_t max_s = 86400;
  double t1 = 0.5;    // fraction of the lease, 0-1
  double t2 = 0.875;  // fraction of the lease, t1-1
  bool operator==(const LeaseTimes&) const = default;
};

/// Inclusive range of addresses inside its subnet; first <= last.
struct Pool {
  Ipv4Address first, last;
  std::uint64_t Size() const { return std::uint64_t{last.value} - first.value + 1; }
  bool Contains(Ipv4Address a) const { return first <= a && a <= last; }
  bool operator==(const Pool&) const = default;
};

/// An option value ready for the wire.
struct ConfiguredOption {
  std::uint8_t code = 0;
  std::vector<std::uint8_t> value;
  bool operator==(const ConfiguredOption&) const = default;
};

/// One network with everything that its clients get; options and times are already merged with the
/// server-wide ones. Immutable after load.
struct Subnet {
  SubnetId id;
  Ipv4Prefix prefix;
  std::vector<Pool> pools;                // ascending, disjoint
  std::vector<ConfiguredOption> options;  // one per code
  LeaseTimes lease_times;
  std::string interface;  // empty: by the interface's addresses
  bool authoritative = false;
  std::optional<Ipv4Address> server_identifier;
  bool operator==(const Subnet&) const = default;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_SUBNET_H_
