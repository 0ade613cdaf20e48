#ifndef RINGDHCP_SERVER_CONFIG_NETWORK_VALUES_H_
#define RINGDHCP_SERVER_CONFIG_NETWORK_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "server/base/ipv4.h"
#include "server/config/report.h"
#include "server/lease/subnet.h"

namespace ringdhcp {

/// Each reads or checks one text of the configuration; nullopt if it is good, else what is wrong
/// with it. The result is written only if it is good.

/// A dotted decimal address.
std::optional<ValueError> ReadAddress(const std::string& text, Ipv4Address* address);
/// The same, and it must be one that a host can have.
std::optional<ValueError> ReadHostAddress(const std::string& text, Ipv4Address* address);
/// A network of unicast addresses, length 8-30.
std::optional<ValueError> ReadSubnetPrefix(const std::string& text, Ipv4Prefix* prefix);
/// "first-last", blanks around the '-' allowed, or one address.
std::optional<ValueError> ReadPool(const std::string& text, Pool* pool);
/// Is `pool` made of host addresses of `prefix`?
std::optional<ValueError> CheckPoolInPrefix(const Pool& pool, const Ipv4Prefix& prefix);
/// A domain name as option 15 carries it (RFC 1035 section 2.3.4 sizes; underscores allowed).
std::optional<ValueError> CheckDomainName(const std::string& text);
/// The name of an interface; with `pattern` it may have '*'.
std::optional<ValueError> CheckInterfaceName(const std::string& text, bool pattern);
/// "host:port", the host an IPv4 address or localhost. "" gives an empty host.
std::optional<ValueError> ReadListen(const std::string& text, std::string* host,
                                     std::uint16_t* port);

/// "first-last", or "first" for a pool of one.
std::string PoolToString(const Pool& pool);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_NETWORK_VALUES_H_
