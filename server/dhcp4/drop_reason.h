#ifndef RINGDHCP_SERVER_DHCP4_DROP_REASON_H_
#define RINGDHCP_SERVER_DHCP4_DROP_REASON_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace ringdhcp {

/// Every reason for which a packet or a reply goes nowhere: (enumerator, metric label, meaning).
/// README.md lists the same table; a test compares the two.
#define RINGDHCP_DROP_REASONS(X)                                                                \
  X(kTruncated, "truncated", "larger than a receive buffer")                                    \
  X(kTooShort, "too_short", "shorter than a BOOTP header with the magic cookie")                \
  X(kNotRequest, "not_request", "op is not BOOTREQUEST (RFC 2131 section 2)")                   \
  X(kBadHardwareLength, "bad_hardware_length", "hlen above 16 (RFC 2131 section 2)")            \
  X(kBadCookie, "bad_cookie", "no DHCP magic cookie: BOOTP without options or garbage")         \
  X(kMalformedOptions, "malformed_options", "an option runs past the end before option 53")     \
  X(kNoMessageType, "no_message_type", "no usable option 53")                                   \
  X(kServerMessage, "server_message", "a message type that only servers send")                  \
  X(kUnsupportedMessage, "unsupported_message", "a message type this server does not serve")    \
  X(kHopLimit, "hop_limit", "hops above 16 (RFC 1542 section 4.1.1)")                           \
  X(kBadGiaddr, "bad_giaddr", "giaddr is no unicast address of another host")                   \
  X(kNoIdentity, "no_identity", "neither a hardware address nor a client identifier")           \
  X(kNoSubnet, "no_subnet", "no configured subnet serves this link")                            \
  X(kNoServerAddress, "no_server_address", "the interface has no address to answer from")       \
  X(kOtherServer, "other_server", "the client chose another server (option 54)")                \
  X(kUnknownClient, "unknown_client", "no record of this client and not authoritative")         \
  X(kInvalidRequest, "invalid_request", "a REQUEST that fits no client state (RFC 2131 4.3.2)") \
  X(kNotHolder, "not_holder", "RELEASE or DECLINE by a client that does not hold the address")  \
  X(kPoolExhausted, "pool_exhausted", "no free address in the subnet's pools")                  \
  X(kNoReplyNeeded, "no_reply_needed", "RELEASE or DECLINE done; RFC 2131 has no reply to it")  \
  X(kNoReplyRoute, "no_reply_route", "no valid destination for the reply (RFC 2131 4.1)")       \
  X(kReplyTooLarge, "reply_too_large", "required options exceed the client's maximum size")     \
  X(kStale, "stale", "waited longer than stale_after_ms; the client has retransmitted")         \
  X(kOverloadDiscover, "overload_discover", "DISCOVER shed in favour of REQUESTs")              \
  X(kStoreUnavailable, "store_unavailable", "a new binding while the lease store is failing")   \
  X(kHeldTooLong, "held_too_long", "reply waited too long for its lease to become durable")     \
  X(kEgressQueueFull, "egress_queue_full", "the interface's send queue was full")               \
  X(kEgressExpired, "egress_expired", "reply waited too long for the interface to take it")     \
  X(kSendFailed, "send_failed", "the kernel refused the reply")                                 \
  X(kInterfaceGone, "interface_gone", "the interface went away with packets queued")            \
  X(kStopping, "stopping", "arrived while the server was shutting down")

enum class DropReason : std::uint8_t {
#define RINGDHCP_X(name, label, meaning) name,
  RINGDHCP_DROP_REASONS(RINGDHCP_X)
#undef RINGDHCP_X
};

/// The values of the metric label `reason`, by DropReason.
inline constexpr std::string_view kDropReasonLabels[] = {
#define RINGDHCP_X(name, label, meaning) label,
    RINGDHCP_DROP_REASONS(RINGDHCP_X)
#undef RINGDHCP_X
};
inline constexpr std::size_t kDropReasonCount = std::size(kDropReasonLabels);

constexpr std::string_view DropReasonLabel(DropReason reason) {
  return kDropReasonLabels[static_cast<std::size_t>(reason)];
}

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_DHCP4_DROP_REASON_H_
