#ifndef RINGDHCP_SERVER_LEASE_REQUEST_KIND_H_
#define RINGDHCP_SERVER_LEASE_REQUEST_KIND_H_

#include <cstdint>

#include "server/base/ipv4.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// The client state in which a REQUEST was sent (RFC 2131 section 4.3.2). RENEWING and REBINDING
/// differ only in how the packet was addressed, and this server answers both alike.
enum class RequestKind : std::uint8_t {
  kSelecting,   // option 54 and option 50
  kInitReboot,  // option 50 alone
  kRenewing,    // ciaddr
  kInvalid,     // no address, or two that differ
};

struct RequestedLease {
  RequestKind kind = RequestKind::kInvalid;
  Ipv4Address address;  // the address the client wants or has
};

/// Reads the state off a REQUEST. A ciaddr that can't be a host's is ignored, as is any ciaddr
/// beside options 54 and 50.
RequestedLease ClassifyRequest(const Message& message);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_REQUEST_KIND_H_
