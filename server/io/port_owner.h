#ifndef RINGDHCP_SERVER_IO_PORT_OWNER_H_
#define RINGDHCP_SERVER_IO_PORT_OWNER_H_

#include <cstdint>
#include <string>

namespace ringdhcp {

/// Which processes have a socket on this UDP port in the caller's network namespace, for an error
/// message: "dnsmasq (pid 812), dhcpd (pid 77)". Other processes come before this one, which is
/// named only if nobody else is found. Processes of other pid namespaces or users can't be seen;
/// the text says so. Reads all of /proc/*/fd: not for a packet path.
std::string DescribeUdpPortOwners(std::uint16_t port);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_PORT_OWNER_H_
