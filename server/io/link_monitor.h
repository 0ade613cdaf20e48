#ifndef RINGDHCP_SERVER_IO_LINK_MONITOR_H_
#define RINGDHCP_SERVER_IO_LINK_MONITOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/ipv4.h"

namespace ringdhcp {

/// One network interface as the kernel reports it.
struct LinkState {
  int ifindex = 0;
  std::string name;
  bool up = false;       // IFF_UP
  bool running = false;  // IFF_RUNNING: carrier
  bool loopback = false;
  bool enslaved = false;  // has a master (bridge port, bond member): served on the master
  std::uint32_t mtu = 0;
  /// Zeros when it is not of 6 octets.
  std::array<std::uint8_t, 6> hardware_address{};
  struct Address {
    Ipv4Address address;
    Ipv4Prefix prefix;
    bool operator==(const Address&) const = default;
  };
  std::vector<Address> addresses;  // primary first, in the kernel's order
  bool operator==(const LinkState&) const = default;
};

/// Follows the kernel's interfaces and IPv4 addresses through rtnetlink on a thread of its own.
class LinkMonitor {
 public:
  virtual ~LinkMonitor() = default;
  /// All interfaces now, ascending by ifindex. Any thread. Has the full list from construction on.
  virtual std::vector<LinkState> Snapshot() const = 0;
  /// Rises with each change of the list. Any thread.
  virtual std::uint64_t generation() const = 0;
};

/// Follows the calling thread's network namespace. `changed` is called on the monitor's thread
/// after each change; thread-safe and brief. After a lost netlink message (ENOBUFS) the list is
/// read anew.
absl::StatusOr<std::unique_ptr<LinkMonitor>> MakeLinkMonitor(std::function<void()> changed);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_LINK_MONITOR_H_
