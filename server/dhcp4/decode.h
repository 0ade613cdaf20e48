#ifndef RINGDHCP_SERVER_DHCP4_DECODE_H_
#define RINGDHCP_SERVER_DHCP4_DECODE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "server/dhcp4/drop_reason.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// Decodes the UDP payload of a client's message into `message`, which is overwritten.
/// Returns why the packet must be dropped, or nullopt when `message` is complete. Judges only what
/// the payload says by itself: hops and the form of giaddr too, but not who the client is.
/// A code that appears twice is one joined value, so two options 53 are no usable option 53.
/// Reads nothing outside `payload`; any bytes are safe. RFC 2131 section 2, RFC 2132, RFC 3396.
std::optional<DropReason> Decode(std::span<const std::uint8_t> payload, Message& message);

/// A cheap look at the message type without decoding: the first option 53 of the options field.
/// nullopt when there is none in reach. For the scheduler's choice of REQUEST before DISCOVER.
std::optional<MessageType> PeekMessageType(std::span<const std::uint8_t> payload);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_DHCP4_DECODE_H_
