#include "server/dhcp4/reply_route.h"

#include <algorithm>

namespace ringdhcp {

namespace {

constexpr std::uint16_t kServerPort = 67;  // RFC 2131 section 4.1
constexpr std::uint16_t kClientPort = 68;
constexpr std::uint8_t kGroupBit = 1;  // of the first octet of an Ethernet address

constexpr ReplyRoute kBroadcastRoute{
    ReplyRouteKind::kBroadcast, kLimitedBroadcast, kClientPort, {}};

ReplyRoute Unicast(Ipv4Address destination) {
  return {ReplyRouteKind::kUnicast, destination, kClientPort, {}};
}

// A frame can name one Ethernet station. A host may discard a unicast datagram that came in a
// group frame (RFC 1122 section 3.3.6), so odd addresses are better served by broadcast.
bool HasStationAddress(const Header& request) {
  const auto address = request.HardwareAddress();
  return request.htype == kHardwareTypeEthernet && address.size() == 6 &&
         (address[0] & kGroupBit) == 0 &&
         std::any_of(address.begin(), address.end(), [](std::uint8_t o) { return o != 0; });
}

ReplyRoute LinkLayer(const Header& request, Ipv4Address yiaddr) {
  ReplyRoute route{ReplyRouteKind::kLinkLayer, yiaddr, kClientPort, {}};
  std::copy_n(request.chaddr.begin(), route.hardware_address.size(),
              route.hardware_address.begin());
  return route;
}

}  // namespace

std::optional<ReplyRoute> RouteReply(const Header& request, MessageType request_type,
                                     MessageType reply_type, Ipv4Address yiaddr, Ipv4Address source,
                                     bool can_link_layer, bool on_link) {
  if (!request.giaddr.IsZero()) {
    if (!request.giaddr.IsUnicastHost()) return std::nullopt;
    return ReplyRoute{ReplyRouteKind::kRelay, request.giaddr, kServerPort, {}};
  }
  if (reply_type == MessageType::kNak) return kBroadcastRoute;
  // The flag is set by clients, and for clients, whose chaddr is not what their frames come from.
  const bool can_frame =
      can_link_layer && HasStationAddress(request) && (request.flags & kBroadcastFlag) == 0;
  const auto to_address_in_use = [&](Ipv4Address address) {
    return can_frame && on_link && address == source ? LinkLayer(request, address)
                                                     : Unicast(address);
  };
  // RFC 2131 sends an OFFER to a ciaddr too. But section 4.4.1 wants ciaddr zero in a DISCOVER, and
  // clients that set it put an address there that they no longer use: it counts as zero.
  if (!request.ciaddr.IsZero() && request_type != MessageType::kDiscover) {
    if (!request.ciaddr.IsUnicastHost()) return std::nullopt;
    return to_address_in_use(request.ciaddr);
  }
  if (request_type == MessageType::kInform && source.IsUnicastHost()) {
    return to_address_in_use(source);
  }
  if (can_frame && yiaddr.IsUnicastHost()) return LinkLayer(request, yiaddr);
  return kBroadcastRoute;
}

}  // namespace ringdhcp
