#ifndef RINGDHCP_SERVER_LEASE_SUBNET_SELECTOR_H_
#define RINGDHCP_SERVER_LEASE_SUBNET_SELECTOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"
#include "server/lease/lease_engine.h"
#include "server/lease/subnet.h"

namespace ringdhcp {

/// Sub-option `code` of option 82 as an address (RFC 3046 section 2.0); nullopt when it is absent,
/// not of 4 octets, or when the packet did not come through a relay.
std::optional<Ipv4Address> FindRelayAddress(const Message& message, std::uint8_t code);
inline constexpr std::uint8_t kLinkSelection = 5;              // RFC 3527
inline constexpr std::uint8_t kServerIdentifierOverride = 11;  // RFC 5107

/// Which subnet a packet belongs to. Relayed: link selection (RFC 3527), subnet selection (RFC
/// 3011), giaddr, in this order; one that names no subnet of ours is not passed over. Direct: the
/// subnet of ciaddr if the client has an address (REQUEST while renewing, RELEASE, INFORM), which
/// also holds for unicasts from a routed network, but not for a broadcast REQUEST (REBINDING) if
/// the subnet is not on this link: the client has moved (RFC 2131 section 4.3.2); else the subnet
/// tied to the interface by name; else that of the interface's addresses, in their order. One
/// thread.
class SubnetSelector {
 public:
  /// `subnets` ascending by prefix, disjoint; must outlive the selector.
  explicit SubnetSelector(const std::vector<Subnet>& subnets);

  /// The index of the subnet; kNoSubnetIndex when none fits.
  std::uint32_t Select(const Message& message, const LinkView& link) const;
  std::uint32_t Containing(Ipv4Address address) const;

 private:
  std::uint32_t OfLink(const LinkView& link) const;
  /// Whether the link carries subnet `index`, perhaps as one of several.
  bool IsOnLink(std::uint32_t index, const LinkView& link) const;

  const std::vector<Subnet>& subnets_;
  std::vector<std::uint32_t> tied_;  // those with an interface name
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_SUBNET_SELECTOR_H_
