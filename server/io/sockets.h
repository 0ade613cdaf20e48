#ifndef RINGDHCP_SERVER_IO_SOCKETS_H_
#define RINGDHCP_SERVER_IO_SOCKETS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "server/io/ring.h"

namespace ringdhcp {

inline constexpr std::uint16_t kServerPort = 67;  // RFC 2131 section 4.1

/// Opens the sockets of one interface: a UDP socket on port 67 bound to the device (by index,
/// IP_PKTINFO, SO_BROADCAST, SO_REUSEADDR off, raised SO_RCVBUF and SO_SNDBUF) and, if the device
/// has 6-octet Ethernet addresses, an AF_PACKET SOCK_RAW socket that receives nothing. IP_RECVERR
/// is off: with it an ICMP error sent by any host would fail a receive and a send to somebody else.
/// `name` is for messages. When port 67 is taken the error is ALREADY_EXISTS; who has it,
/// port_owner.h finds out. In the calling thread's network namespace. A few system calls: for a
/// packet path too.
absl::StatusOr<InterfaceSockets> OpenInterfaceSockets(const std::string& name, int ifindex);

/// Receive drops the kernel counted for this socket so far (SO_MEMINFO); nullopt on error.
std::optional<std::uint64_t> ReceiveDrops(int udp_fd);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_SOCKETS_H_
