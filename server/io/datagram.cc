#include "server/io/datagram.h"

#include <liburing.h>
#include <linux/if_ether.h>

#include <algorithm>
#include <cstring>

namespace ringdhcp {
namespace {

constexpr std::uint16_t kServerPort = 67;  // RFC 2131 section 4.1

// The kernel only reads what is sent; iovec has no form for that.
iovec Part(std::span<const std::uint8_t> octets) {
  return {const_cast<std::uint8_t*>(octets.data()), octets.size()};
}

}  // namespace

void OutgoingDatagram::SetMessage(void* name, std::size_t name_size, std::size_t parts) {
  message_ = msghdr{};
  message_.msg_name = name;
  message_.msg_namelen = static_cast<socklen_t>(name_size);
  message_.msg_iov = parts_.data();
  message_.msg_iovlen = parts;
}

void OutgoingDatagram::PrepareUdp(const SendRequest& request, int ifindex) {
  name_.ip = sockaddr_in{};
  name_.ip.sin_family = AF_INET;
  name_.ip.sin_port = htons(request.destination_port);
  name_.ip.sin_addr.s_addr = htonl(request.destination.value);
  parts_[0] = Part(request.payload);
  SetMessage(&name_.ip, sizeof(name_.ip), 1);
  message_.msg_control = control_.data();
  message_.msg_controllen = control_.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message_);
  header->cmsg_level = IPPROTO_IP;
  header->cmsg_type = IP_PKTINFO;
  header->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
  in_pktinfo info{};
  info.ipi_ifindex = ifindex;
  info.ipi_spec_dst.s_addr = htonl(request.source.value);
  std::memcpy(CMSG_DATA(header), &info, sizeof(info));
}

void OutgoingDatagram::PrepareFrame(const SendRequest& request, const InterfaceSockets& sockets) {
  BuildFrameHeader({sockets.hardware_address, request.hardware_address, request.source,
                    request.destination, kServerPort, request.destination_port},
                   request.payload, header_);
  name_.link = sockaddr_ll{};
  name_.link.sll_family = AF_PACKET;
  name_.link.sll_protocol = htons(ETH_P_IP);
  name_.link.sll_ifindex = sockets.ifindex;
  name_.link.sll_halen = ETH_ALEN;
  std::ranges::copy(request.hardware_address, name_.link.sll_addr);
  parts_[0] = Part(header_);
  parts_[1] = Part(request.payload);
  SetMessage(&name_.link, sizeof(name_.link), 2);
}

msghdr ReceiveLayout() {
  msghdr layout{};
  layout.msg_namelen = sizeof(sockaddr_in);
  layout.msg_controllen = kPacketInfoSize;
  return layout;
}

std::size_t ReceivePrefixSize() {
  return sizeof(io_uring_recvmsg_out) + sizeof(sockaddr_in) + kPacketInfoSize;
}

bool ParseReceived(std::span<std::uint8_t> buffer, int size, ReceivedDatagram& datagram) {
  msghdr layout = ReceiveLayout();
  io_uring_recvmsg_out* message = io_uring_recvmsg_validate(buffer.data(), size, &layout);
  if (message == nullptr || message->namelen < sizeof(sockaddr_in)) return false;
  sockaddr_in source{};
  std::memcpy(&source, io_uring_recvmsg_name(message), sizeof(source));
  datagram.source = Ipv4Address(ntohl(source.sin_addr.s_addr));
  datagram.source_port = ntohs(source.sin_port);
  datagram.truncated = (message->flags & MSG_TRUNC) != 0;
  datagram.payload = {static_cast<const std::uint8_t*>(io_uring_recvmsg_payload(message, &layout)),
                      io_uring_recvmsg_payload_length(message, size, &layout)};
  for (cmsghdr* control = io_uring_recvmsg_cmsg_firsthdr(message, &layout); control != nullptr;
       control = io_uring_recvmsg_cmsg_nexthdr(message, &layout, control)) {
    if (control->cmsg_level != IPPROTO_IP || control->cmsg_type != IP_PKTINFO) continue;
    in_pktinfo info{};
    std::memcpy(&info, CMSG_DATA(control), sizeof(info));
    datagram.destination = Ipv4Address(ntohl(info.ipi_addr.s_addr));
    datagram.local = Ipv4Address(ntohl(info.ipi_spec_dst.s_addr));
  }
  return true;
}

}  // namespace ringdhcp
