#ifndef RINGDHCP_TEST_CONTRACT_RING_RING_WORLD_H_
#define RINGDHCP_TEST_CONTRACT_RING_RING_WORLD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/base/ipv4.h"
#include "server/io/ring.h"

namespace ringdhcp {

inline constexpr std::size_t kWorldInterfaces = 2;
inline constexpr std::size_t kWorldBuffers = 16;
inline constexpr std::size_t kWorldPayloadMax = 2048;
inline constexpr std::size_t kWorldSendSlots = 1500;

/// A datagram as the client side saw it on the wire.
struct WireDatagram {
  std::vector<std::uint8_t> payload;
  Ipv4Address source;
  std::uint16_t source_port = 0;
  Ipv4Address destination;
  std::uint16_t destination_port = 0;
  std::array<std::uint8_t, 6> destination_hardware_address{};
  bool ip_checksum_right = false;
  /// Only meaningful for frames: the stack leaves the UDP checksum to the (virtual) device.
  bool udp_checksum_right = false;
};

/// A ring under test and the network around it: interfaces 0 and 1, with one client host on each.
class RingWorld {
 public:
  virtual ~RingWorld() = default;
  virtual Ring& ring() = 0;
  /// Opens fresh sockets for the interface and attaches them.
  virtual absl::Status Attach(std::size_t interface) = 0;
  /// The client sends `payload` from port 68 to port 67 of `destination`.
  virtual void ClientSends(std::size_t interface, const std::vector<std::uint8_t>& payload,
                           Ipv4Address destination) = 0;
  /// The next datagram to port 68 that reached the client; nullopt after a while without one.
  virtual std::optional<WireDatagram> ClientReceives(std::size_t interface) = 0;
  virtual void SetLinkDown(std::size_t interface) = 0;
  virtual void DeleteInterface(std::size_t interface) = 0;

  static Ipv4Address ServerAddress(std::size_t interface) {
    return Ipv4Address(0x0A000001U + (static_cast<std::uint32_t>(interface) << 16));
  }
  static Ipv4Address ClientAddress(std::size_t interface) {
    return Ipv4Address(ServerAddress(interface).value + 1);
  }
};

/// UringRing over veth pairs in namespaces of its own.
std::unique_ptr<RingWorld> MakeUringWorld();
std::unique_ptr<RingWorld> MakeFakeWorld();

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_RING_RING_WORLD_H_
