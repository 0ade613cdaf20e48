#ifndef RINGDHCP_TEST_SUPPORT_FAKE_RING_H_
#define RINGDHCP_TEST_SUPPORT_FAKE_RING_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "server/base/ids.h"
#include "server/base/ipv4.h"
#include "server/io/ring.h"

namespace ringdhcp {

class FakeRingWorld;

struct FakeRingOptions {
  std::size_t interfaces_max = 8;
  std::size_t buffers_per_interface = 16;
  std::size_t buffer_payload_max = 2048;  // octets
  std::size_t send_slots = 256;
  /// Datagrams that wait in the socket while no receive or no buffer takes them; more are dropped
  /// and counted, as a full SO_RCVBUF does.
  std::size_t socket_queue_max = 1024;
  /// False: Turn never sleeps, whatever it is told, and only keeps the time in last_wait_ns(), so a
  /// simulation is deterministic. True: Turn waits in real time, for Wake alone.
  bool waits = false;
  /// What surrounds the ring in a simulation; null: nothing does. Outlives the ring.
  FakeRingWorld* world = nullptr;
};

/// The Ring of the tests: the kernel's observable behaviour without a kernel. Deterministic: the
/// same calls give the same completions in the same order. Nothing happens outside Turn.
///
/// Like the kernel it ends a receive (kStopped) with ENOBUFS when a datagram waits and no buffer is
/// free, and with success right after a datagram of length zero. All calls but Wake: one thread.
class FakeRing : public Ring {
 public:
  struct Datagram {
    std::vector<std::uint8_t> payload{};
    Ipv4Address source{};
    std::uint16_t source_port = 68;
    Ipv4Address destination = kLimitedBroadcast;
    Ipv4Address local{};
  };
  /// A reply as it left; the payload is copied at the moment the fake kernel took it.
  struct Sent {
    InterfaceSlot interface;
    SendSlotId slot;
    std::vector<std::uint8_t> payload;
    Ipv4Address source;
    Ipv4Address destination;
    std::uint16_t destination_port = 0;
    bool link_layer = false;
    std::array<std::uint8_t, 6> hardware_address{};
  };

  explicit FakeRing(const FakeRingOptions& options = {});
  ~FakeRing() override = default;

  // --- Ring. Attach ignores the file descriptors and closes none.
  absl::Status Attach(InterfaceSlot interface, const InterfaceSockets& sockets) override;
  void Detach(InterfaceSlot interface) override;
  void Arm(InterfaceSlot interface) override;
  void ReturnBuffer(InterfaceSlot interface, BufferId buffer) override;
  std::size_t FreeBuffers(InterfaceSlot interface) const override;
  std::size_t buffers_per_interface() const override { return options_.buffers_per_interface; }
  void Send(const SendRequest& request) override;
  std::size_t Turn(std::span<Completion> out, std::int64_t wait_ns) override;
  void Wake() override;

  // --- What the test does to the kernel.
  /// A datagram arrives. False: dropped, because the socket's queue is full or the interface is
  /// not attached.
  bool Inject(InterfaceSlot interface, const Datagram& datagram);
  /// The next `count` sends on the interface complete with `error` (EAGAIN, ENOBUFS, ...) and do
  /// not leave.
  void FailSends(InterfaceSlot interface, int error, std::size_t count = 1);
  /// While not 0, every send on the interface completes with `error` (ENETDOWN: link down).
  void SetSendError(InterfaceSlot interface, int error);
  /// While held, sends of the interface are taken and neither leave nor complete: a clogged device.
  /// A Detach releases them with ECANCELED.
  void HoldSends(InterfaceSlot interface, bool hold);
  /// The receive of the interface ends with `error` in the next Turn; 0 means success.
  void StopReceive(InterfaceSlot interface, int error);
  /// The next Attach of the interface fails with this status.
  void FailNextAttach(InterfaceSlot interface, absl::Status status);

  // --- What the test sees.
  /// What left since the last call, in order.
  std::vector<Sent> TakeSent();
  bool attached(InterfaceSlot interface) const;
  bool armed(InterfaceSlot interface) const;
  /// Datagrams in the socket that no receive has taken yet.
  std::size_t waiting(InterfaceSlot interface) const;
  /// Buffers the ring has handed out and not got back.
  std::size_t buffers_outstanding(InterfaceSlot interface) const;
  /// Datagrams dropped by a full socket queue since Attach.
  std::uint64_t receive_drops(InterfaceSlot interface) const;
  /// Sends queued or held without their kSent yet.
  std::size_t sends_outstanding() const;
  /// Slots whose kSent was not handed out yet.
  std::size_t slots_busy() const { return slots_busy_; }
  /// `wait_ns` of the last Turn that had nothing to return; 0 before.
  std::int64_t last_wait_ns() const { return last_wait_ns_; }

 private:
  /// kReleased: nothing is left of the interface, but the caller has not seen kDetached yet.
  enum class State : std::uint8_t { kDetached, kAttached, kDetaching, kReleased };
  struct Interface {
    State state = State::kDetached;
    std::uint64_t detached_in_turn = 0;
    bool receiving = false;
    bool stop_requested = false;
    int stop_error = 0;
    std::deque<Datagram> socket_queue;
    std::uint64_t receive_drops = 0;
    std::vector<std::vector<std::uint8_t>> buffers;
    std::deque<std::uint16_t> free;  // in the order they were given to the kernel
    std::vector<bool> with_caller;
    int send_error = 0;
    int fail_error = 0;
    std::size_t fail_count = 0;
    bool hold_sends = false;
    std::size_t sends_outstanding = 0;
    absl::Status attach_status;
  };

  Interface& At(InterfaceSlot interface);
  const Interface& At(InterfaceSlot interface) const;
  void RunSends();
  void CompleteSend(const SendRequest& request, int error);
  void RunReceive(InterfaceSlot slot);
  void Stop(InterfaceSlot slot, int error);
  void FinishDetach(InterfaceSlot slot);
  void TakeWake();
  void Collect();

  FakeRingOptions options_;
  std::vector<Interface> interfaces_;
  std::vector<bool> slot_busy_;
  std::size_t slots_busy_ = 0;
  std::uint64_t turns_ = 0;
  std::deque<SendRequest> sends_;
  std::deque<Completion> completions_;
  std::vector<Sent> sent_;
  std::int64_t last_wait_ns_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_condition_;
  bool wake_ = false;  // guarded by mutex_
};

/// What a simulation sees and decides at the places where a kernel would do as it likes. Every call
/// comes from within a call of the ring's; none may call Turn.
class FakeRingWorld {
 public:
  virtual ~FakeRingWorld() = default;
  /// Turn has nothing to give and may sleep for `wait_ns` (negative: without limit): let time pass
  /// until something happens to the ring or the time is over.
  virtual void Wait(std::int64_t wait_ns) = 0;
  /// How many of `ready` completions Turn hands out: 1 to ready.
  virtual std::size_t CutBatch(std::size_t ready) = 0;
  /// The errno with which a send on the interface ends instead of leaving; 0: it leaves.
  virtual int SendError(InterfaceSlot interface) = 0;
  /// The caller hands a reply over.
  virtual void OnHandedOver(SendSlotId slot) = 0;
  /// A reply leaves now. With a world, TakeSent stays empty.
  virtual void OnSent(const FakeRing::Sent& sent) = 0;
  /// Turn gives a received datagram to the caller; the caller returns its buffer.
  virtual void OnHandedOut(InterfaceSlot interface) = 0;
  virtual void OnReturned(InterfaceSlot interface) = 0;
  virtual void OnDetach(InterfaceSlot interface) = 0;
  virtual void OnAttach(InterfaceSlot interface, const InterfaceSockets& sockets) = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_SUPPORT_FAKE_RING_H_
