#ifndef RINGDHCP_SERVER_IO_DATAGRAM_H_
#define RINGDHCP_SERVER_IO_DATAGRAM_H_

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "server/io/frame.h"
#include "server/io/ring.h"

namespace ringdhcp {

/// Room for one IP_PKTINFO control message, in octets.
inline constexpr std::size_t kPacketInfoSize = CMSG_SPACE(sizeof(in_pktinfo));

/// Everything of one send that the kernel may read after it was queued. Belongs to a send slot and
/// must not move while the send is under way.
class OutgoingDatagram {
 public:
  /// For the UDP socket, from `request.source` (IP_PKTINFO ipi_spec_dst) out of `ifindex`.
  void PrepareUdp(const SendRequest& request, int ifindex);
  /// For the packet socket, with Ethernet, IPv4 and UDP headers. The payload is at most
  /// kUdpPayloadMax octets (checked).
  void PrepareFrame(const SendRequest& request, const InterfaceSockets& sockets);

  const msghdr* message() const { return &message_; }

 private:
  void SetMessage(void* name, std::size_t name_size, std::size_t parts);

  msghdr message_{};
  std::array<iovec, 2> parts_{};
  union {
    sockaddr_in ip;
    sockaddr_ll link;
  } name_{};
  alignas(cmsghdr) std::array<std::uint8_t, kPacketInfoSize> control_{};
  std::array<std::uint8_t, kFrameHeaderSize> header_{};
};

/// What a multishot recvmsg is told: how much room for address and control messages each buffer
/// has in front of its payload. Only these two lengths are set.
msghdr ReceiveLayout();
/// Octets of a buffer in front of its payload under ReceiveLayout.
std::size_t ReceivePrefixSize();

/// Reads what the kernel wrote into `buffer`: `size` octets (the completion's result). False if
/// that is not a datagram with an IPv4 source, which the kernel never gives. `datagram.buffer` is
/// left alone.
bool ParseReceived(std::span<std::uint8_t> buffer, int size, ReceivedDatagram& datagram);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_DATAGRAM_H_
