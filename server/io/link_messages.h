#ifndef RINGDHCP_SERVER_IO_LINK_MESSAGES_H_
#define RINGDHCP_SERVER_IO_LINK_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "server/io/link_monitor.h"

namespace ringdhcp {

/// What the kernel has reported. Links change by their events; addresses are always read as a
/// whole, because their order (which one is primary) is told by a dump only.
struct LinkTable {
  struct ReportedAddress {
    LinkState::Address address;
    bool secondary = false;
  };
  std::map<int, LinkState> links;  // addresses empty
  std::map<int, std::vector<ReportedAddress>> addresses;

  /// The links with their addresses, ascending by ifindex; primary addresses first. Addresses of a
  /// link that is not known are left out.
  std::vector<LinkState> Build() const;
};

/// Where the answer to a dump request stands after one datagram.
struct DumpProgress {
  bool done = false;         // all of the answer was read
  bool interrupted = false;  // the list changed meanwhile: ask again
  std::optional<int> error;  // the kernel refused: an errno above 0
};

/// Reads one datagram of events (groups RTMGRP_LINK and RTMGRP_IPV4_IFADDR) into `table.links`.
/// Returns whether addresses have changed. Any octets are safe: a message or an attribute that is
/// cut, or too short for what it should hold, is passed over. Pure.
bool TakeLinkEvents(std::span<const std::uint8_t> datagram, LinkTable& table);

/// Reads one datagram of the answer to the dump request numbered `sequence` into `table`; messages
/// with another number are passed over. Likewise for any octets. Pure.
DumpProgress TakeDumpAnswer(std::span<const std::uint8_t> datagram, std::uint32_t sequence,
                            LinkTable& table);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_LINK_MESSAGES_H_
