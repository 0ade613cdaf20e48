#include "test/support/fake_ring.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "server/base/check.h"

namespace ringdhcp {

FakeRing::FakeRing(const FakeRingOptions& options)
    : options_(options), interfaces_(options.interfaces_max), slot_busy_(options.send_slots) {
  RINGDHCP_CHECK(options.buffers_per_interface > 0 && options.buffers_per_interface <= 32768);
}

FakeRing::Interface& FakeRing::At(InterfaceSlot interface) {
  RINGDHCP_CHECK(interface.value < interfaces_.size());
  return interfaces_[interface.value];
}

const FakeRing::Interface& FakeRing::At(InterfaceSlot interface) const {
  RINGDHCP_CHECK(interface.value < interfaces_.size());
  return interfaces_[interface.value];
}

absl::Status FakeRing::Attach(InterfaceSlot interface, const InterfaceSockets& sockets) {
  Interface& i = At(interface);
  RINGDHCP_CHECK(i.state == State::kDetached);
  if (!i.attach_status.ok()) return std::exchange(i.attach_status, absl::OkStatus());
  i = Interface{};
  i.state = State::kAttached;
  i.receiving = true;
  i.buffers.resize(options_.buffers_per_interface);
  i.with_caller.resize(options_.buffers_per_interface);
  for (std::size_t b = 0; b < options_.buffers_per_interface; ++b) {
    i.free.push_back(static_cast<std::uint16_t>(b));
  }
  if (options_.world != nullptr) options_.world->OnAttach(interface, sockets);
  return absl::OkStatus();
}

void FakeRing::Detach(InterfaceSlot interface) {
  Interface& i = At(interface);
  RINGDHCP_CHECK(i.state == State::kAttached);
  if (options_.world != nullptr) options_.world->OnDetach(interface);
  i.state = State::kDetaching;
  i.receiving = false;
  i.hold_sends = false;
  i.socket_queue.clear();
  // A stop that was not handed out yet has lost its meaning.
  std::erase_if(completions_, [interface](const Completion& c) {
    return c.kind == Completion::Kind::kStopped && c.interface == interface;
  });
}

void FakeRing::Arm(InterfaceSlot interface) {
  Interface& i = At(interface);
  if (i.state != State::kAttached) return;
  RINGDHCP_CHECK(!i.receiving);
  i.receiving = true;
}

void FakeRing::ReturnBuffer(InterfaceSlot interface, BufferId buffer) {
  Interface& i = At(interface);
  // In one batch datagrams may come before the end of their interface.
  RINGDHCP_CHECK(i.state != State::kDetached || i.detached_in_turn == turns_);
  RINGDHCP_CHECK(buffer.value < i.with_caller.size() && i.with_caller[buffer.value]);
  i.with_caller[buffer.value] = false;
  // What the caller still reads from a returned buffer must show at once.
  std::fill(i.buffers[buffer.value].begin(), i.buffers[buffer.value].end(), std::uint8_t{0xDB});
  i.free.push_back(buffer.value);
  if (options_.world != nullptr) options_.world->OnReturned(interface);
}

std::size_t FakeRing::FreeBuffers(InterfaceSlot interface) const {
  const Interface& i = At(interface);
  return i.state == State::kAttached || i.state == State::kDetaching ? i.free.size() : 0;
}

void FakeRing::Send(const SendRequest& request) {
  Interface& i = At(request.interface);
  RINGDHCP_CHECK(request.slot.value < slot_busy_.size() && !slot_busy_[request.slot.value]);
  slot_busy_[request.slot.value] = true;
  ++slots_busy_;
  if (options_.world != nullptr) options_.world->OnHandedOver(request.slot);
  if (i.state != State::kAttached) {
    CompleteSend(request, ENODEV);
    return;
  }
  ++i.sends_outstanding;
  sends_.push_back(request);
}

void FakeRing::CompleteSend(const SendRequest& request, int error) {
  Completion completion;
  completion.kind = Completion::Kind::kSent;
  completion.interface = request.interface;
  completion.slot = request.slot;
  completion.error = error;
  completions_.push_back(completion);
}

void FakeRing::RunSends() {
  std::deque<SendRequest> held;
  for (const SendRequest& request : sends_) {
    Interface& i = At(request.interface);
    if (i.hold_sends) {
      held.push_back(request);
      continue;
    }
    int error = i.send_error;
    if (i.state == State::kDetaching) {
      error = ECANCELED;
    } else if (i.fail_count > 0) {
      --i.fail_count;
      error = i.fail_error;
    } else if (error == 0 && options_.world != nullptr) {
      error = options_.world->SendError(request.interface);
    }
    if (error == 0) {
      sent_.push_back({request.interface, request.slot,
                       std::vector<std::uint8_t>(request.payload.begin(), request.payload.end()),
                       request.source, request.destination, request.destination_port,
                       request.link_layer, request.hardware_address});
      if (options_.world != nullptr) {
        options_.world->OnSent(sent_.back());
        sent_.pop_back();
      }
    }
    --i.sends_outstanding;
    CompleteSend(request, error);
  }
  sends_ = std::move(held);
}

void FakeRing::Stop(InterfaceSlot slot, int error) {
  Interface& i = At(slot);
  i.receiving = false;
  Completion completion;
  completion.kind = Completion::Kind::kStopped;
  completion.interface = slot;
  completion.error = error;
  completions_.push_back(completion);
}

void FakeRing::RunReceive(InterfaceSlot slot) {
  Interface& i = At(slot);
  if (!i.receiving) return;
  if (std::exchange(i.stop_requested, false)) {
    Stop(slot, i.stop_error);
    return;
  }
  while (!i.socket_queue.empty()) {
    if (i.free.empty()) {
      Stop(slot, ENOBUFS);
      return;
    }
    const Datagram datagram = std::move(i.socket_queue.front());
    i.socket_queue.pop_front();
    const std::uint16_t buffer = i.free.front();
    i.free.pop_front();
    i.with_caller[buffer] = true;
    const std::size_t size = std::min(datagram.payload.size(), options_.buffer_payload_max);
    i.buffers[buffer].assign(datagram.payload.begin(),
                             datagram.payload.begin() + static_cast<std::ptrdiff_t>(size));
    Completion completion;
    completion.kind = Completion::Kind::kReceived;
    completion.interface = slot;
    completion.datagram = {BufferId(buffer), i.buffers[buffer],    size < datagram.payload.size(),
                           datagram.source,  datagram.source_port, datagram.destination,
                           datagram.local};
    completions_.push_back(completion);
    if (size == 0) {  // the kernel takes a length of zero for the end of a stream
      Stop(slot, 0);
      return;
    }
  }
}

void FakeRing::FinishDetach(InterfaceSlot slot) {
  Interface& i = At(slot);
  if (i.state != State::kDetaching || i.sends_outstanding > 0) return;
  i.state = State::kReleased;
  Completion completion;
  completion.kind = Completion::Kind::kDetached;
  completion.interface = slot;
  completions_.push_back(completion);
}

void FakeRing::TakeWake() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(wake_, false)) return;
  Completion completion;
  completion.kind = Completion::Kind::kWake;
  completions_.push_back(completion);
}

void FakeRing::Collect() {
  RunSends();
  for (std::size_t s = 0; s < interfaces_.size(); ++s) {
    const InterfaceSlot slot(static_cast<std::uint16_t>(s));
    RunReceive(slot);
    FinishDetach(slot);
  }
  TakeWake();
}

std::size_t FakeRing::Turn(std::span<Completion> out, std::int64_t wait_ns) {
  ++turns_;
  Collect();
  if (completions_.empty()) {
    last_wait_ns_ = wait_ns;
    if (options_.world != nullptr && wait_ns != 0) {
      options_.world->Wait(wait_ns);
      Collect();
    }
    if (options_.waits && wait_ns != 0) {
      {
        std::unique_lock lock(mutex_);
        const auto woken = [this] { return wake_; };
        if (wait_ns < 0) {
          wake_condition_.wait(lock, woken);
        } else {
          wake_condition_.wait_for(lock, std::chrono::nanoseconds(wait_ns), woken);
        }
      }
      TakeWake();
    }
  }
  std::size_t count = std::min(out.size(), completions_.size());
  if (options_.world != nullptr && count > 0) count = options_.world->CutBatch(count);
  for (std::size_t n = 0; n < count; ++n) {
    out[n] = completions_.front();
    if (out[n].kind == Completion::Kind::kSent) {
      slot_busy_[out[n].slot.value] = false;
      --slots_busy_;
    }
    if (out[n].kind == Completion::Kind::kDetached) {
      At(out[n].interface).state = State::kDetached;
      At(out[n].interface).detached_in_turn = turns_;
    }
    if (out[n].kind == Completion::Kind::kReceived && options_.world != nullptr) {
      options_.world->OnHandedOut(out[n].interface);
    }
    completions_.pop_front();
  }
  return count;
}

void FakeRing::Wake() {
  {
    const std::lock_guard lock(mutex_);
    wake_ = true;
  }
  wake_condition_.notify_one();
}

bool FakeRing::Inject(InterfaceSlot interface, const Datagram& datagram) {
  Interface& i = At(interface);
  if (i.state != State::kAttached) return false;
  if (i.socket_queue.size() >= options_.socket_queue_max) {
    ++i.receive_drops;
    return false;
  }
  i.socket_queue.push_back(datagram);
  return true;
}

void FakeRing::FailSends(InterfaceSlot interface, int error, std::size_t count) {
  At(interface).fail_error = error;
  At(interface).fail_count = count;
}

void FakeRing::SetSendError(InterfaceSlot interface, int error) {
  At(interface).send_error = error;
}

void FakeRing::HoldSends(InterfaceSlot interface, bool hold) { At(interface).hold_sends = hold; }

void FakeRing::StopReceive(InterfaceSlot interface, int error) {
  At(interface).stop_requested = true;
  At(interface).stop_error = error;
}

void FakeRing::FailNextAttach(InterfaceSlot interface, absl::Status status) {
  At(interface).attach_status = std::move(status);
}

std::vector<FakeRing::Sent> FakeRing::TakeSent() { return std::exchange(sent_, {}); }

bool FakeRing::attached(InterfaceSlot interface) const {
  return At(interface).state == State::kAttached;
}

bool FakeRing::armed(InterfaceSlot interface) const { return At(interface).receiving; }

std::size_t FakeRing::waiting(InterfaceSlot interface) const {
  return At(interface).socket_queue.size();
}

std::size_t FakeRing::buffers_outstanding(InterfaceSlot interface) const {
  const std::vector<bool>& with_caller = At(interface).with_caller;
  return static_cast<std::size_t>(std::count(with_caller.begin(), with_caller.end(), true));
}

std::uint64_t FakeRing::receive_drops(InterfaceSlot interface) const {
  return At(interface).receive_drops;
}

std::size_t FakeRing::sends_outstanding() const { return sends_.size(); }

}  // namespace ringdhcp
