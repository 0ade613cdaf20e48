#include "server/io/sockets.h"

#include <linux/sock_diag.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ringdhcp {
namespace {

/// Some 3,000 datagrams of 300 octets, as the kernel accounts for them.
constexpr int kReceiveBufferOctets = 4 << 20;
/// Above the 208 KiB that the kernel keeps for one unresolved neighbour, which are charged to the
/// sender: one renewing client that is gone must not use up the buffer of the whole interface.
constexpr int kSendBufferOctets = 2 << 20;

/// Closes a descriptor unless it was taken.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() {
    if (fd_ >= 0) close(fd_);
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  int get() const { return fd_; }
  int Take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::Status Error(int error, const std::string& name, const char* what) {
  std::string message = absl::StrCat("interface ", name, ": ", what);
  if (error == EPERM || error == EACCES) {
    absl::StrAppend(&message, " (needs CAP_NET_RAW, CAP_NET_ADMIN and CAP_NET_BIND_SERVICE)");
  }
  return absl::ErrnoToStatus(error, message);
}

bool SetInt(int fd, int level, int option, int value) {
  return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

// With CAP_NET_ADMIN beyond net.core.[rw]mem_max, else up to it: not a reason to fail.
void RaiseBuffer(int fd, int forced_option, int option, int octets) {
  if (!SetInt(fd, SOL_SOCKET, forced_option, octets)) SetInt(fd, SOL_SOCKET, option, octets);
}

// IP_RECVERR stays off. With it, any host that can send an ICMP error for port 67 (a client whose
// DHCP socket is closed does) makes the next receive or the next send fail, a send to somebody
// else included; the reply is lost though nothing is wrong with it. Without it an unconnected
// socket ignores those errors. The price: a datagram dropped by the queueing discipline is not
// reported for the UDP socket; the frames of the packet socket still report it.
absl::StatusOr<int> OpenUdp(const std::string& name, int ifindex) {
  // Blocking: io_uring waits for a blocking socket by polling, and fails on a non-blocking one.
  OwnedFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return Error(errno, name, "cannot open a UDP socket");
  // By index: a name can pass to another device between the link event and this call.
  if (!SetInt(fd.get(), SOL_SOCKET, SO_BINDTOIFINDEX, ifindex)) {
    return Error(errno, name, "cannot bind the UDP socket to the device (SO_BINDTOIFINDEX)");
  }
  if (!SetInt(fd.get(), IPPROTO_IP, IP_PKTINFO, 1) ||
      !SetInt(fd.get(), SOL_SOCKET, SO_BROADCAST, 1)) {
    return Error(errno, name, "cannot set IP_PKTINFO and SO_BROADCAST");
  }
  RaiseBuffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF, kReceiveBufferOctets);
  RaiseBuffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBufferOctets);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kServerPort);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == EADDRINUSE) {
      return absl::AlreadyExistsError(absl::StrCat("interface ", name, ": UDP port ", kServerPort,
                                                   " is taken by another socket"));
    }
    return Error(errno, name, "cannot bind UDP port 67");
  }
  return fd.Take();
}

// The device's Ethernet address; nullopt if it is no Ethernet device.
absl::StatusOr<std::optional<std::array<std::uint8_t, 6>>> EthernetAddress(int fd,
                                                                           const std::string& name,
                                                                           int ifindex) {
  ifreq request{};
  if (if_indextoname(static_cast<unsigned>(ifindex), request.ifr_name) == nullptr ||
      ioctl(fd, SIOCGIFHWADDR, &request) != 0) {
    return Error(errno, name, "cannot read the hardware address");
  }
  if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) return std::nullopt;
  std::array<std::uint8_t, 6> address{};
  std::memcpy(address.data(), request.ifr_hwaddr.sa_data, address.size());
  return address;
}

absl::StatusOr<int> OpenPacket(const std::string& name, int ifindex) {
  // Protocol 0: it sends and receives nothing.
  OwnedFd fd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return Error(errno, name, "cannot open a packet socket");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = ifindex;
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return Error(errno, name, "cannot bind the packet socket to the device");
  }
  return fd.Take();
}

}  // namespace

absl::StatusOr<InterfaceSockets> OpenInterfaceSockets(const std::string& name, int ifindex) {
  absl::StatusOr<int> udp = OpenUdp(name, ifindex);
  if (!udp.ok()) return udp.status();
  OwnedFd udp_fd(*udp);
  const auto ethernet = EthernetAddress(udp_fd.get(), name, ifindex);
  if (!ethernet.ok()) return ethernet.status();
  InterfaceSockets sockets;
  sockets.ifindex = ifindex;
  if (ethernet->has_value()) {
    const absl::StatusOr<int> packet = OpenPacket(name, ifindex);
    if (!packet.ok()) return packet.status();
    sockets.packet_fd = *packet;
    sockets.hardware_address = **ethernet;
  }
  sockets.udp_fd = udp_fd.Take();
  return sockets;
}

std::optional<std::uint64_t> ReceiveDrops(int udp_fd) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof(memory);
  if (getsockopt(udp_fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0 ||
      size < sizeof(memory[0]) * (SK_MEMINFO_DROPS + 1)) {
    return std::nullopt;
  }
  return memory[SK_MEMINFO_DROPS];
}

}  // namespace ringdhcp
