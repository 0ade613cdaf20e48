#ifndef RINGDHCP_SERVER_SHARD_SEND_SLOT_H_
#define RINGDHCP_SERVER_SHARD_SEND_SLOT_H_

#include <cstddef>
#include <cstdint>

#include "server/base/ids.h"
#include "server/dhcp4/message.h"
#include "server/dhcp4/reply_route.h"

namespace ringdhcp {

/// An encoded reply from the moment it is made until the kernel has taken it; its octets are in
/// Shard::PayloadOf.
struct SendSlot {
  InterfaceSlot interface;
  /// ServedInterface::life it was made for: a slot given to another interface name since then must
  /// not send it.
  std::uint64_t life = 0;
  ReplyRoute route;
  Ipv4Address source;  // zero: the kernel's choice
  MessageType type{};
  std::uint16_t size = 0;        // octets of payload
  std::int64_t arrival_ns = 0;   // of the request
  std::int64_t deadline_ns = 0;  // in the egress queue
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_SHARD_SEND_SLOT_H_
