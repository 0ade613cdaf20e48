#include "server/io/uring_ring.h"

#include <liburing.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/base/check.h"
#include "server/base/ring_buffer.h"
#include "server/io/buffer_group.h"
#include "server/io/datagram.h"
#include "server/io/frame.h"
#include "server/io/uring_setup.h"

namespace ringdhcp {
namespace {

constexpr unsigned kSubmissionEntries = 1024;
constexpr std::size_t kCompletionEntriesMax = 65536;  // the kernel's IORING_MAX_CQ_ENTRIES

/// What a completion belongs to. The generation counts receives of an interface, so that a late
/// completion of an earlier one can't pass for the present one's.
enum class Operation : std::uint8_t { kReceive = 1, kSend, kCancel, kWakeRead };

struct UserData {
  Operation operation;
  std::uint32_t generation;  // 24 bits
  std::uint32_t index;       // interface or send slot

  std::uint64_t Pack() const {
    return std::uint64_t{static_cast<std::uint8_t>(operation)} << 56 |
           std::uint64_t{generation & 0xFFFFFFU} << 32 | index;
  }
  static UserData Unpack(std::uint64_t value) {
    return {static_cast<Operation>(value >> 56),
            static_cast<std::uint32_t>(value >> 32) & 0xFFFFFFU, static_cast<std::uint32_t>(value)};
  }
};

class UringRing : public Ring {
 public:
  explicit UringRing(const UringLimits& limits);
  ~UringRing() override;
  absl::Status Init(unsigned completion_entries);

  absl::Status Attach(InterfaceSlot slot, const InterfaceSockets& sockets) override;
  void Detach(InterfaceSlot slot) override;
  void Arm(InterfaceSlot slot) override;
  void ReturnBuffer(InterfaceSlot slot, BufferId buffer) override;
  std::size_t FreeBuffers(InterfaceSlot slot) const override;
  std::size_t buffers_per_interface() const override { return limits_.buffers_per_interface; }
  void Send(const SendRequest& request) override;
  std::size_t Turn(std::span<Completion> out, std::int64_t wait_ns) override;
  void Wake() override;

 private:
  /// kReleased: nothing is left of the interface, but the caller has not seen kDetached yet.
  enum class State : std::uint8_t { kDetached, kAttached, kDetaching, kReleased };
  struct Interface {
    State state = State::kDetached;
    std::uint64_t detached_in_turn = 0;
    bool receiving = false;   // the kernel holds a receive whose last completion is still to come
    bool cancelling = false;  // and a cancel
    std::uint32_t generation = 0;
    std::size_t sends = 0;  // with the kernel
    InterfaceSockets sockets;
    std::unique_ptr<BufferGroup> buffers;  // kept over Detach: memory is reused
  };
  /// Everything of a send the kernel may read after Send has returned.
  struct SendState {
    bool busy = false;
    InterfaceSlot interface;
    OutgoingDatagram datagram;
  };

  Interface& At(InterfaceSlot slot);
  const Interface& At(InterfaceSlot slot) const;
  io_uring_sqe* NextSqe();
  int FixedFile(InterfaceSlot slot, bool packet) const { return slot.value * 2 + (packet ? 1 : 0); }
  absl::Status RegisterFiles(InterfaceSlot slot, int udp_fd, int packet_fd);
  void QueueWakeRead();
  void Enter(std::int64_t wait_ns);
  void Emit(const Completion& completion);
  void Handle(const io_uring_cqe& cqe);
  void HandleReceive(InterfaceSlot slot, std::uint32_t generation, const io_uring_cqe& cqe);
  void FinishDetach(InterfaceSlot slot);

  const UringLimits limits_;
  io_uring ring_{};
  bool ring_made_ = false;
  int wake_fd_ = -1;
  std::uint64_t wake_count_ = 0;  // where the kernel puts the eventfd's count
  msghdr receive_layout_ = ReceiveLayout();
  std::vector<Interface> interfaces_;
  std::vector<SendState> sends_;
  /// Completions that had no room in `out`: one CQE can make three, and Send and Detach can make
  /// one at once. Given out first in the next Turn, so order is kept.
  RingBuffer<Completion> pending_;
  std::span<Completion> out_;
  std::size_t out_count_ = 0;
  std::uint64_t turns_ = 0;
};

UringRing::UringRing(const UringLimits& limits)
    : limits_(limits),
      interfaces_(limits.interfaces_max),
      sends_(limits.send_slots),
      pending_(limits.send_slots + 2 * limits.interfaces_max + 8) {}

absl::Status UringRing::Init(unsigned completion_entries) {
  if (absl::Status status = SetUpUring(kSubmissionEntries, completion_entries, &ring_);
      !status.ok()) {
    return status;
  }
  ring_made_ = true;
  const auto files = static_cast<unsigned>(limits_.interfaces_max * 2);
  if (const int result = io_uring_register_files_sparse(&ring_, files); result < 0) {
    return absl::ErrnoToStatus(
        -result, absl::StrCat("cannot register ", files,
                              " file slots with io_uring; RLIMIT_NOFILE must not be below that"));
  }
  // Blocking on purpose: io_uring answers a read of an empty non-blocking file with EAGAIN.
  wake_fd_ = eventfd(0, EFD_CLOEXEC);
  if (wake_fd_ < 0) return absl::ErrnoToStatus(errno, "eventfd");
  QueueWakeRead();
  // Shows at start, not at the first interface, whether the kernel has provided-buffer rings.
  auto trial = BufferGroup::Make(1, ReceivePrefixSize(), static_cast<std::uint16_t>(0xFFFF));
  if (!trial.ok()) return trial.status();
  if (absl::Status status = (*trial)->Register(&ring_); !status.ok()) return status;
  (*trial)->Unregister(&ring_);
  return absl::OkStatus();
}

UringRing::~UringRing() {
  if (ring_made_) {
    // The kernel must have let go of the buffers before they are unmapped; closing the ring alone
    // cancels later, on a worker.
    io_uring_sync_cancel_reg cancel{};
    cancel.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL;
    cancel.timeout.tv_sec = 1;
    io_uring_register_sync_cancel(&ring_, &cancel);
    io_uring_unregister_files(&ring_);
    io_uring_queue_exit(&ring_);
  }
  for (Interface& i : interfaces_) {
    if (i.sockets.udp_fd >= 0) close(i.sockets.udp_fd);
    if (i.sockets.packet_fd >= 0) close(i.sockets.packet_fd);
  }
  if (wake_fd_ >= 0) close(wake_fd_);
}

UringRing::Interface& UringRing::At(InterfaceSlot slot) {
  RINGDHCP_CHECK(slot.value < interfaces_.size());
  return interfaces_[slot.value];
}

const UringRing::Interface& UringRing::At(InterfaceSlot slot) const {
  RINGDHCP_CHECK(slot.value < interfaces_.size());
  return interfaces_[slot.value];
}

io_uring_sqe* UringRing::NextSqe() {
  // One pass makes room, unless the kernel is short of memory for the moment (Enter).
  for (int pass = 0; pass < 10000; ++pass) {
    if (io_uring_sqe* sqe = io_uring_get_sqe(&ring_)) return sqe;
    Enter(0);
  }
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  RINGDHCP_CHECK(sqe != nullptr);
  return sqe;
}

absl::Status UringRing::RegisterFiles(InterfaceSlot slot, int udp_fd, int packet_fd) {
  const std::array<int, 2> files = {udp_fd, packet_fd};
  const int result = io_uring_register_files_update(
      &ring_, static_cast<unsigned>(FixedFile(slot, false)), files.data(), files.size());
  if (result == static_cast<int>(files.size())) return absl::OkStatus();
  return absl::ErrnoToStatus(result < 0 ? -result : EINVAL,
                             "cannot register an interface's sockets with io_uring");
}

absl::Status UringRing::Attach(InterfaceSlot slot, const InterfaceSockets& sockets) {
  Interface& i = At(slot);
  RINGDHCP_CHECK(i.state == State::kDetached);
  absl::Status status;
  if (i.buffers == nullptr) {
    auto made = BufferGroup::Make(limits_.buffers_per_interface,
                                  ReceivePrefixSize() + limits_.buffer_payload_max, slot.value);
    if (made.ok()) {
      i.buffers = *std::move(made);
    } else {
      status = made.status();
    }
  }
  if (status.ok()) status = RegisterFiles(slot, sockets.udp_fd, sockets.packet_fd);
  if (status.ok()) {
    status = i.buffers->Register(&ring_);
    if (!status.ok()) RegisterFiles(slot, -1, -1).IgnoreError();
  }
  if (!status.ok()) {
    if (sockets.udp_fd >= 0) close(sockets.udp_fd);
    if (sockets.packet_fd >= 0) close(sockets.packet_fd);
    return status;
  }
  i.sockets = sockets;
  i.state = State::kAttached;
  Arm(slot);
  return absl::OkStatus();
}

void UringRing::Arm(InterfaceSlot slot) {
  Interface& i = At(slot);
  if (i.state != State::kAttached) return;
  RINGDHCP_CHECK(!i.receiving);
  i.receiving = true;
  i.generation = (i.generation + 1) & 0xFFFFFFU;
  io_uring_sqe* sqe = NextSqe();
  io_uring_prep_recvmsg_multishot(sqe, FixedFile(slot, false), &receive_layout_, 0);
  // Polling first saves a receive that finds nothing; a socket that has data fires at once.
  sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
  sqe->flags |= IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT;
  sqe->buf_group = i.buffers->group();
  sqe->user_data = UserData{Operation::kReceive, i.generation, slot.value}.Pack();
}

void UringRing::Detach(InterfaceSlot slot) {
  Interface& i = At(slot);
  RINGDHCP_CHECK(i.state == State::kAttached);
  i.state = State::kDetaching;
  if (i.receiving) {
    i.cancelling = true;
    io_uring_sqe* sqe = NextSqe();
    io_uring_prep_cancel64(sqe, UserData{Operation::kReceive, i.generation, slot.value}.Pack(), 0);
    sqe->user_data = UserData{Operation::kCancel, i.generation, slot.value}.Pack();
  }
  FinishDetach(slot);
}

void UringRing::FinishDetach(InterfaceSlot slot) {
  Interface& i = At(slot);
  if (i.state != State::kDetaching || i.receiving || i.cancelling || i.sends > 0) return;
  RINGDHCP_CHECK(RegisterFiles(slot, -1, -1).ok());
  close(i.sockets.udp_fd);
  if (i.sockets.packet_fd >= 0) close(i.sockets.packet_fd);
  i.sockets = InterfaceSockets{};
  i.buffers->Unregister(&ring_);
  i.state = State::kReleased;
  Completion completion;
  completion.kind = Completion::Kind::kDetached;
  completion.interface = slot;
  Emit(completion);
}

void UringRing::ReturnBuffer(InterfaceSlot slot, BufferId buffer) {
  Interface& i = At(slot);
  // A batch may hold datagrams and, after them, the end of their interface. The caller, who takes
  // one after the other, has not seen the end yet when it gives the buffers back.
  RINGDHCP_CHECK(i.state != State::kDetached || i.detached_in_turn == turns_);
  if (i.state == State::kAttached || i.state == State::kDetaching) i.buffers->Return(buffer.value);
}

std::size_t UringRing::FreeBuffers(InterfaceSlot slot) const {
  const Interface& i = At(slot);
  return i.state == State::kAttached || i.state == State::kDetaching ? i.buffers->free() : 0;
}

void UringRing::Send(const SendRequest& request) {
  Interface& i = At(request.interface);
  RINGDHCP_CHECK(request.slot.value < sends_.size() && !sends_[request.slot.value].busy);
  SendState& send = sends_[request.slot.value];
  send.busy = true;
  send.interface = request.interface;
  int error = 0;
  if (request.link_layer && i.sockets.packet_fd < 0) error = EOPNOTSUPP;
  if (request.payload.size() > kUdpPayloadMax) error = EMSGSIZE;
  if (i.state != State::kAttached) error = ENODEV;
  if (error != 0) {
    Completion completion;
    completion.kind = Completion::Kind::kSent;
    completion.interface = request.interface;
    completion.slot = request.slot;
    completion.error = error;
    pending_.Push(completion);
    return;
  }
  if (request.link_layer) {
    send.datagram.PrepareFrame(request, i.sockets);
  } else {
    send.datagram.PrepareUdp(request, i.sockets.ifindex);
  }
  ++i.sends;
  io_uring_sqe* sqe = NextSqe();
  // MSG_DONTWAIT: a full send buffer is the egress queue's business, not one for a parked request.
  io_uring_prep_sendmsg(sqe, FixedFile(request.interface, request.link_layer),
                        send.datagram.message(), MSG_DONTWAIT);
  sqe->flags |= IOSQE_FIXED_FILE;
  sqe->user_data = UserData{Operation::kSend, 0, request.slot.value}.Pack();
}

void UringRing::QueueWakeRead() {
  io_uring_sqe* sqe = NextSqe();
  io_uring_prep_read(sqe, wake_fd_, &wake_count_, sizeof(wake_count_), 0);
  sqe->user_data = UserData{Operation::kWakeRead, 0, 0}.Pack();
}

void UringRing::Wake() {
  const std::uint64_t one = 1;
  const int saved = errno;  // may be called in a signal handler
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof(one));
  errno = saved;
}

void UringRing::Enter(std::int64_t wait_ns) {
  int result = 0;
  if (wait_ns == 0) {
    result = io_uring_submit_and_get_events(&ring_);
  } else if (wait_ns < 0) {
    result = io_uring_submit_and_wait(&ring_, 1);
  } else {
    io_uring_cqe* cqe = nullptr;
    __kernel_timespec wait{};
    wait.tv_sec = wait_ns / 1'000'000'000;
    wait.tv_nsec = wait_ns % 1'000'000'000;
    result = io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &wait, nullptr);
  }
  // EAGAIN and EBUSY: the kernel is short of memory; what was not submitted is submitted next time.
  RINGDHCP_CHECK(result >= 0 || result == -ETIME || result == -EINTR || result == -EAGAIN ||
                 result == -EBUSY);
}

void UringRing::Emit(const Completion& completion) {
  if (pending_.empty() && out_count_ < out_.size()) {
    out_[out_count_++] = completion;
  } else {
    pending_.Push(completion);
  }
}

std::size_t UringRing::Turn(std::span<Completion> out, std::int64_t wait_ns) {
  RINGDHCP_CHECK(!out.empty());
  ++turns_;
  out_count_ = 0;
  while (!pending_.empty() && out_count_ < out.size()) {
    const Completion completion = pending_.Pop();
    // A stop that Detach has overtaken has lost its meaning.
    if (completion.kind == Completion::Kind::kStopped &&
        At(completion.interface).state != State::kAttached) {
      continue;
    }
    out[out_count_++] = completion;
  }
  Enter(out_count_ > 0 ? 0 : wait_ns);
  out_ = out;
  unsigned head = 0;
  unsigned reaped = 0;
  io_uring_cqe* cqe = nullptr;
  io_uring_for_each_cqe(&ring_, head, cqe) {
    if (out_count_ == out.size()) break;
    Handle(*cqe);
    ++reaped;
  }
  io_uring_cq_advance(&ring_, reaped);
  out_ = {};
  RINGDHCP_CHECK(io_uring_cq_has_overflow(&ring_) == 0);
  for (std::size_t n = 0; n < out_count_; ++n) {
    if (out[n].kind == Completion::Kind::kSent) sends_[out[n].slot.value].busy = false;
    if (out[n].kind == Completion::Kind::kDetached) {
      At(out[n].interface).state = State::kDetached;
      At(out[n].interface).detached_in_turn = turns_;
    }
  }
  return out_count_;
}

void UringRing::Handle(const io_uring_cqe& cqe) {
  const UserData data = UserData::Unpack(cqe.user_data);
  Completion completion;
  switch (data.operation) {
    case Operation::kReceive:
      HandleReceive(InterfaceSlot(static_cast<std::uint16_t>(data.index)), data.generation, cqe);
      return;
    case Operation::kSend: {
      const InterfaceSlot slot = sends_[data.index].interface;
      completion.kind = Completion::Kind::kSent;
      completion.interface = slot;
      completion.slot = SendSlotId(data.index);
      completion.error = cqe.res < 0 ? -cqe.res : 0;
      --At(slot).sends;
      Emit(completion);
      FinishDetach(slot);
      return;
    }
    case Operation::kCancel: {
      // Whatever the result, the receive's own last completion is counted apart.
      const InterfaceSlot slot(static_cast<std::uint16_t>(data.index));
      At(slot).cancelling = false;
      FinishDetach(slot);
      return;
    }
    case Operation::kWakeRead:
      QueueWakeRead();
      if (cqe.res < 0) return;
      completion.kind = Completion::Kind::kWake;
      Emit(completion);
      return;
  }
  RINGDHCP_CHECK(false);
}

void UringRing::HandleReceive(InterfaceSlot slot, std::uint32_t generation,
                              const io_uring_cqe& cqe) {
  Interface& i = At(slot);
  RINGDHCP_CHECK(i.receiving && generation == i.generation);
  Completion completion;
  completion.interface = slot;
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
    const auto buffer = static_cast<std::uint16_t>(cqe.flags >> IORING_CQE_BUFFER_SHIFT);
    const std::span<std::uint8_t> memory = i.buffers->Take(buffer);
    completion.kind = Completion::Kind::kReceived;
    completion.datagram.buffer = BufferId(buffer);
    if (ParseReceived(memory, cqe.res, completion.datagram)) {
      Emit(completion);
    } else {
      i.buffers->Return(buffer);
    }
  }
  // The missing MORE tells the end, not the result: a datagram of length zero ends with success.
  if ((cqe.flags & IORING_CQE_F_MORE) != 0) return;
  i.receiving = false;
  if (i.state == State::kAttached) {
    completion.kind = Completion::Kind::kStopped;
    completion.error = cqe.res < 0 ? -cqe.res : 0;
    completion.datagram = ReceivedDatagram{};
    Emit(completion);
  }
  FinishDetach(slot);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Ring>> MakeUringRing(const UringLimits& limits) {
  RINGDHCP_CHECK(limits.interfaces_max > 0 && limits.interfaces_max <= 65535 / 2);
  RINGDHCP_CHECK(std::has_single_bit(limits.buffers_per_interface) &&
                 limits.buffers_per_interface <= 32768);
  RINGDHCP_CHECK(limits.buffer_payload_max > 0 && limits.buffer_payload_max <= 65536);
  const std::size_t completions =
      limits.interfaces_max * (limits.buffers_per_interface + 1)  // a datagram each, and the end
      + limits.interfaces_max                                     // cancels
      + limits.send_slots                                         // one per send
      + 1;                                                        // the wake-up
  if (completions > kCompletionEntriesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(limits.interfaces_max, " interfaces with ", limits.buffers_per_interface,
                     " receive buffers each and ", limits.send_slots, " send slots need ",
                     completions, " completion entries; the kernel allows ", kCompletionEntriesMax,
                     ": serve fewer interfaces or use fewer buffers"));
  }
  auto ring = std::make_unique<UringRing>(limits);
  const auto entries =
      static_cast<unsigned>(std::max<std::size_t>(completions, kSubmissionEntries));
  if (absl::Status status = ring->Init(entries); !status.ok()) return status;
  return ring;
}

}  // namespace ringdhcp
