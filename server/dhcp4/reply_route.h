#ifndef RINGDHCP_SERVER_DHCP4_REPLY_ROUTE_H_
#define RINGDHCP_SERVER_DHCP4_REPLY_ROUTE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

enum class ReplyRouteKind : std::uint8_t {
  /// UDP to giaddr, port 67.
  kRelay,
  /// UDP to 255.255.255.255, port 68, on the arrival interface.
  kBroadcast,
  /// UDP to an address the client already has, port 68.
  kUnicast,
  /// A frame to chaddr for the client's address, port 68: nobody there answers for the address yet,
  /// or the host would have to ask who does.
  kLinkLayer,
};

/// Where a reply goes. Everything leaves by the interface the request came in on.
struct ReplyRoute {
  ReplyRouteKind kind{};
  Ipv4Address destination;
  std::uint16_t port = 0;
  /// kLinkLayer only.
  std::array<std::uint8_t, 6> hardware_address{};
  bool operator==(const ReplyRoute&) const = default;
};

/// The table of RFC 2131 section 4.1. `yiaddr` is the reply's; `source` is where the request came
/// from; `can_link_layer` says that the interface has a packet socket and Ethernet addresses (else
/// such replies are broadcast); `on_link` that `source` is in a network of the interface. Then a
/// client with an address, and without the broadcast flag, gets a frame too: a datagram would need
/// an entry in the host's neighbour table, which holds 1,024 (net.ipv4.neigh.default.gc_thresh3),
/// and wait for one that is gone. nullopt: no valid destination, the reply is dropped
/// (kNoReplyRoute). A NAK through a relay has the broadcast flag set by the caller (section 4.3.2).
/// INFORM without ciaddr goes to `source` if that is a unicast host (clients in the wild).
std::optional<ReplyRoute> RouteReply(const Header& request, MessageType request_type,
                                     MessageType reply_type, Ipv4Address yiaddr, Ipv4Address source,
                                     bool can_link_layer, bool on_link);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_DHCP4_REPLY_ROUTE_H_
