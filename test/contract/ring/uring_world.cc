#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "absl/strings/str_cat.h"
#include "server/io/sockets.h"
#include "server/io/uring_ring.h"
#include "test/contract/ring/namespaces.h"
#include "test/contract/ring/ring_world.h"

namespace ringdhcp {
namespace {

constexpr int kReceiveTimeoutMilliseconds = 2000;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::abort();
}

std::uint32_t Get16(std::span<const std::uint8_t> octets, std::size_t offset) {
  return static_cast<std::uint32_t>(octets[offset] << 8 | octets[offset + 1]);
}

Ipv4Address GetAddress(std::span<const std::uint8_t> octets, std::size_t offset) {
  return Ipv4Address(Get16(octets, offset) << 16 | Get16(octets, offset + 2));
}

// Written apart from the code under test: a sum over a right checksum is all ones (RFC 1071).
bool SumsToOnes(std::span<const std::uint8_t> octets, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < octets.size(); ++i) {
    sum += i % 2 == 0 ? static_cast<std::uint32_t>(octets[i]) << 8 : octets[i];
    if (sum > 0xFFFF) sum -= 0xFFFF;
  }
  return sum == 0xFFFF;
}

// A UDP datagram to port 68 in an Ethernet frame; nullopt for anything else.
std::optional<WireDatagram> Parse(std::span<const std::uint8_t> frame) {
  if (frame.size() < 42 || Get16(frame, 12) != ETH_P_IP || frame[14] != 0x45 || frame[23] != 17) {
    return std::nullopt;
  }
  const std::span<const std::uint8_t> packet = frame.subspan(14);
  const std::size_t total = Get16(packet, 2);
  if (total < 28 || total > packet.size()) return std::nullopt;
  const std::span<const std::uint8_t> udp = packet.subspan(20, total - 20);
  if (Get16(udp, 2) != 68 || Get16(udp, 4) != udp.size()) return std::nullopt;
  WireDatagram datagram;
  std::ranges::copy(frame.first(6), datagram.destination_hardware_address.begin());
  datagram.source = GetAddress(packet, 12);
  datagram.destination = GetAddress(packet, 16);
  datagram.source_port = static_cast<std::uint16_t>(Get16(udp, 0));
  datagram.destination_port = static_cast<std::uint16_t>(Get16(udp, 2));
  datagram.payload.assign(udp.begin() + 8, udp.end());
  datagram.ip_checksum_right = SumsToOnes(packet.first(20));
  std::uint32_t pseudo = 17 + static_cast<std::uint32_t>(udp.size());
  for (std::size_t offset = 12; offset < 20; offset += 2) pseudo += Get16(packet, offset);
  while (pseudo > 0xFFFF) pseudo -= 0xFFFF;
  datagram.udp_checksum_right = Get16(udp, 6) != 0 && SumsToOnes(udp, pseudo);
  return datagram;
}

class UringWorld : public RingWorld {
 public:
  UringWorld() {
    for (std::size_t i = 0; i < kWorldInterfaces; ++i) {
      namespaces_.AddVeth(ServerName(i), ServerAddress(i).ToString() + "/24", ClientName(i),
                          ClientAddress(i).ToString() + "/24");
    }
    namespaces_.InClients([this] {
      for (std::size_t i = 0; i < kWorldInterfaces; ++i) OpenClient(i);
    });
    auto ring = MakeUringRing({kWorldInterfaces, kWorldBuffers, kWorldPayloadMax, kWorldSendSlots});
    if (!ring.ok()) {
      std::fprintf(stderr, "%s\n", ring.status().ToString().c_str());
      std::abort();
    }
    ring_ = *std::move(ring);
  }
  ~UringWorld() override {
    for (std::size_t i = 0; i < kWorldInterfaces; ++i) {
      close(client_fds_[i]);
      close(capture_fds_[i]);
    }
  }

  Ring& ring() override { return *ring_; }

  absl::Status Attach(std::size_t interface) override {
    const std::string name = ServerName(interface);
    const auto sockets = OpenInterfaceSockets(name, static_cast<int>(if_nametoindex(name.c_str())));
    if (!sockets.ok()) return sockets.status();
    return ring_->Attach(InterfaceSlot(static_cast<std::uint16_t>(interface)), *sockets);
  }

  void ClientSends(std::size_t interface, const std::vector<std::uint8_t>& payload,
                   Ipv4Address destination) override {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(67);
    to.sin_addr.s_addr = htonl(destination.value);
    const ssize_t sent = sendto(client_fds_[interface], payload.data(), payload.size(), 0,
                                reinterpret_cast<const sockaddr*>(&to), sizeof(to));
    Require(sent == static_cast<ssize_t>(payload.size()), "client's sendto");
  }

  std::optional<WireDatagram> ClientReceives(std::size_t interface) override {
    std::array<std::uint8_t, 65600> frame;
    for (;;) {
      pollfd poll_fd{capture_fds_[interface], POLLIN, 0};
      if (poll(&poll_fd, 1, kReceiveTimeoutMilliseconds) <= 0) return std::nullopt;
      sockaddr_ll from{};
      socklen_t from_size = sizeof(from);
      const ssize_t size = recvfrom(capture_fds_[interface], frame.data(), frame.size(), 0,
                                    reinterpret_cast<sockaddr*>(&from), &from_size);
      if (size < 0 || from.sll_pkttype == PACKET_OUTGOING) continue;
      if (auto datagram = Parse(std::span(frame).first(static_cast<std::size_t>(size)))) {
        return datagram;
      }
    }
  }

  void SetLinkDown(std::size_t interface) override {
    Namespaces::Run("ip link set " + ServerName(interface) + " down");
  }
  void DeleteInterface(std::size_t interface) override {
    Namespaces::Run("ip link del " + ServerName(interface));
  }

 private:
  static std::string ServerName(std::size_t interface) { return absl::StrCat("s", interface); }
  static std::string ClientName(std::size_t interface) { return absl::StrCat("c", interface); }

  void OpenClient(std::size_t interface) {
    const std::string name = ClientName(interface);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    Require(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.c_str(),
                       static_cast<socklen_t>(name.size())) == 0,
            "SO_BINDTODEVICE");
    const int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(68);
    Require(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0, "bind");
    client_fds_[interface] = fd;
    const int capture = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    sockaddr_ll link{};
    link.sll_family = AF_PACKET;
    link.sll_protocol = htons(ETH_P_IP);
    link.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
    Require(bind(capture, reinterpret_cast<const sockaddr*>(&link), sizeof(link)) == 0,
            "bind the capture");
    capture_fds_[interface] = capture;
  }

  Namespaces namespaces_;
  std::array<int, kWorldInterfaces> client_fds_{};
  std::array<int, kWorldInterfaces> capture_fds_{};
  std::unique_ptr<Ring> ring_;
};

}  // namespace

std::unique_ptr<RingWorld> MakeUringWorld() { return std::make_unique<UringWorld>(); }

}  // namespace ringdhcp
