#ifndef RINGDHCP_SERVER_IO_RING_H_
#define RINGDHCP_SERVER_IO_RING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "server/base/ids.h"
#include "server/base/ipv4.h"

namespace ringdhcp {

/// The sockets of one interface, opened by sockets.h. The ring owns them from Attach on.
struct InterfaceSockets {
  int udp_fd = -1;     // port 67, bound to the device
  int packet_fd = -1;  // AF_PACKET SOCK_RAW for clients without an address; -1: none
  int ifindex = 0;
  std::array<std::uint8_t, 6> hardware_address{};
};

/// A datagram that came in. `payload` lies in buffer `buffer` of the interface until
/// ReturnBuffer.
struct ReceivedDatagram {
  BufferId buffer;
  std::span<const std::uint8_t> payload;
  bool truncated = false;  // MSG_TRUNC: it was longer than a buffer
  Ipv4Address source;
  std::uint16_t source_port = 0;
  Ipv4Address destination;  // as in the IP header (IP_PKTINFO ipi_addr)
  Ipv4Address local;        // ipi_spec_dst: the local address the kernel would answer from
};

struct Completion {
  enum class Kind : std::uint8_t {
    kReceived,  // datagram is set; its buffer must be returned
    kStopped,   // receiving on `interface` has ended (no MORE); call Arm to go on
    kSent,      // `slot` is free again; error 0 or an errno
    kDetached,  // everything of `interface` is done and its sockets are closed
    kWake,      // Wake was called at least once
  };
  Kind kind{};
  InterfaceSlot interface;
  SendSlotId slot;
  /// kSent: 0 or the errno. kStopped: 0 or the errno that ended the receive (ENOBUFS: no buffer).
  int error = 0;
  ReceivedDatagram datagram;
};

/// One reply to send. `payload` stays with the caller, unchanged, until kSent for `slot`.
struct SendRequest {
  InterfaceSlot interface;
  SendSlotId slot;
  std::span<const std::uint8_t> payload;  // the UDP payload
  Ipv4Address source;                     // a local address; zero: the kernel's choice
  Ipv4Address destination;
  std::uint16_t destination_port = 0;
  /// Send as a frame to `hardware_address` through the packet socket.
  bool link_layer = false;
  std::array<std::uint8_t, 6> hardware_address{};
};

/// What the packet path needs of io_uring, and the seam at which tests put a simulated kernel.
/// All calls but Wake belong to one thread. Every bound is fixed at construction.
class Ring {
 public:
  virtual ~Ring() = default;

  /// Takes over the sockets and starts receiving. The slot must be new or kDetached. On error the
  /// sockets are closed and the slot stays as it was.
  virtual absl::Status Attach(InterfaceSlot interface, const InterfaceSockets& sockets) = 0;
  /// Ends receiving and sending on the interface; completions already under way still come, then
  /// kDetached; no kStopped comes any more. Buffers not yet returned may be returned until
  /// kDetached was seen and then no more.
  virtual void Detach(InterfaceSlot interface) = 0;
  /// Starts receiving again after kStopped. Without effect on a slot that is being detached.
  virtual void Arm(InterfaceSlot interface) = 0;
  virtual void ReturnBuffer(InterfaceSlot interface, BufferId buffer) = 0;
  /// Buffers of the interface that the kernel has to fill now.
  virtual std::size_t FreeBuffers(InterfaceSlot interface) const = 0;
  virtual std::size_t buffers_per_interface() const = 0;
  /// Queues one send; at most send_slots are outstanding (the caller's slots bound them). Completes
  /// with ENODEV on a slot that is not attached, with EOPNOTSUPP when a frame is asked of an
  /// interface without a packet socket, with EAGAIN when the socket's send buffer is full and, for
  /// frames only, with ENOBUFS when the queueing discipline dropped it.
  virtual void Send(const SendRequest& request) = 0;
  /// Submits what is queued and fills `out` with completions, at most out.size(). Waits up to
  /// `wait_ns` (0: not at all; negative: without limit) when there are none. Returns how many.
  virtual std::size_t Turn(std::span<Completion> out, std::int64_t wait_ns) = 0;
  /// Makes the next or current Turn return with kWake. Any thread; async-signal-safe.
  virtual void Wake() = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_RING_H_
