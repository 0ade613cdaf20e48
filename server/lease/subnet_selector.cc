#include "server/lease/subnet_selector.h"

#include <algorithm>

#include "server/lease/lease_table.h"
#include "server/lease/request_kind.h"

namespace ringdhcp {

namespace {

// The address the client says it has, where the message's type means it: a DISCOVER with ciaddr,
// for one, is sent by clients that lost their network (RFC 2131 table 5 wants 0 there).
Ipv4Address AddressInUse(const Message& message) {
  const Ipv4Address ciaddr = message.header.ciaddr;
  if (!ciaddr.IsUnicastHost()) return {};
  switch (message.type) {
    case MessageType::kRelease:
    case MessageType::kInform:
      return ciaddr;
    case MessageType::kRequest:
      return ClassifyRequest(message).kind == RequestKind::kRenewing ? ciaddr : Ipv4Address();
    default:
      return {};
  }
}

}  // namespace

std::optional<Ipv4Address> FindRelayAddress(const Message& message, std::uint8_t code) {
  if (message.header.giaddr.IsZero()) return std::nullopt;
  const auto option = message.options.Find(OptionCode::kRelayAgentInformation);
  if (!option) return std::nullopt;
  std::span<const std::uint8_t> rest = *option;
  while (rest.size() >= 2 && rest.size() - 2 >= rest[1]) {
    if (rest[0] == code && rest[1] == 4) {
      return Ipv4Address(std::uint32_t{rest[2]} << 24 | std::uint32_t{rest[3]} << 16 |
                         std::uint32_t{rest[4]} << 8 | rest[5]);
    }
    rest = rest.subspan(std::size_t{2} + rest[1]);
  }
  return std::nullopt;
}

SubnetSelector::SubnetSelector(const std::vector<Subnet>& subnets) : subnets_(subnets) {
  for (std::uint32_t i = 0; i < subnets.size(); ++i) {
    if (!subnets[i].interface.empty()) tied_.push_back(i);
  }
}

std::uint32_t SubnetSelector::Containing(Ipv4Address address) const {
  auto next = std::upper_bound(
      subnets_.begin(), subnets_.end(), address,
      [](Ipv4Address a, const Subnet& subnet) { return a < subnet.prefix.address; });
  if (next == subnets_.begin() || !(next - 1)->prefix.Contains(address)) return kNoSubnetIndex;
  return static_cast<std::uint32_t>(next - 1 - subnets_.begin());
}

std::uint32_t SubnetSelector::OfLink(const LinkView& link) const {
  std::uint32_t found = kNoSubnetIndex;
  for (const std::uint32_t i : tied_) {
    if (subnets_[i].interface != link.name) continue;
    // Of several, the one in which the interface has an address.
    for (const LinkView::Address& own : link.addresses) {
      if (subnets_[i].prefix.Contains(own.address)) return i;
    }
    if (found == kNoSubnetIndex) found = i;
  }
  if (found != kNoSubnetIndex) return found;
  for (const LinkView::Address& own : link.addresses) {
    const std::uint32_t i = Containing(own.address);
    if (i != kNoSubnetIndex && subnets_[i].interface.empty()) return i;
  }
  return kNoSubnetIndex;
}

bool SubnetSelector::IsOnLink(std::uint32_t index, const LinkView& link) const {
  const Subnet& subnet = subnets_[index];
  if (!subnet.interface.empty()) return subnet.interface == link.name;
  return std::any_of(
      link.addresses.begin(), link.addresses.end(),
      [&subnet](const LinkView::Address& own) { return subnet.prefix.Contains(own.address); });
}

std::uint32_t SubnetSelector::Select(const Message& message, const LinkView& link) const {
  if (!message.header.giaddr.IsZero()) {
    if (const auto selected = FindRelayAddress(message, kLinkSelection)) {
      return Containing(*selected);
    }
    if (const auto wanted = message.options.FindAddress(OptionCode::kSubnetSelection)) {
      return Containing(*wanted);
    }
    return Containing(message.header.giaddr);
  }
  const Ipv4Address in_use = AddressInUse(message);
  if (in_use.IsZero()) return OfLink(link);
  const std::uint32_t own = Containing(in_use);
  // A broadcast comes from this link. A client that rebinds here with an address of a network that
  // is elsewhere has moved, and must not be told that it may go on (RFC 2131 section 4.3.2).
  if (own != kNoSubnetIndex && link.broadcast && message.type == MessageType::kRequest &&
      !IsOnLink(own, link)) {
    return OfLink(link);
  }
  // An INFORM from a network we know nothing about must not get another network's options (RFC 2131
  // section 4.3.5); a REQUEST is judged against the link it came in on.
  if (own != kNoSubnetIndex || message.type == MessageType::kInform) return own;
  return OfLink(link);
}

}  // namespace ringdhcp
