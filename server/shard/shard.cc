#include "server/shard/shard.h"

#include <algorithm>
#include <cerrno>

#include "server/base/buggify.h"
#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/base/probe.h"
#include "server/dhcp4/decode.h"
#include "server/dhcp4/encode.h"
#include "server/dhcp4/reply_route.h"

namespace ringdhcp {
namespace {

/// A receive that ended for another cause than a lack of buffers may end at once again: wait.
constexpr std::int64_t kRearmDelayNs = 10 * kNanosecondsPerMillisecond;

std::size_t TypeSlot(std::optional<MessageType> type) {
  const std::size_t number = type ? static_cast<std::size_t>(*type) : 0;
  return number < kMessageTypeSlots ? number : 0;
}

}  // namespace

Shard::Shard(const Limits& limits, const ServerConfig& config, const ShardSeams& seams)
    : limits_(limits),
      config_(config),
      seams_(seams),
      interfaces_(limits.interfaces_max),
      scheduler_(limits.interfaces_max, limits.quantum_packets),
      slots_(limits.send_slots()),
      payloads_(
          std::make_unique_for_overwrite<std::uint8_t[]>(limits.send_slots() * kReplyPayloadMax)),
      gate_(limits.held_replies_max),
      commits_(limits.commit_rows_max),
      completions_(limits.completions_max) {
  RINGDHCP_CHECK(limits.Check().ok());
  subnet_counts_ = seams_.engine.Counts();
}

Shard::~Shard() = default;

void Shard::Turn() {
  const std::size_t count = seams_.ring.Turn(completions_, WaitTime());
  now_ = seams_.clock.Read();
  for (std::size_t i = 0; i < count; ++i) Classify(completions_[i]);
  FollowLinks();
  TakeStoreResult();
  ReleaseHeld();
  ServeBatch();
  SealCommit();
  for (const auto& interface : interfaces_) {
    if (!interface || !interface->serving()) continue;
    PumpEgress(*interface);
    Rearm(*interface);
  }
  const std::size_t expiries_max = RINGDHCP_BUGGIFY(short_tick) ? 1 : limits_.expiries_max;
  more_expiries_ = seams_.engine.Tick(now_, expiries_max) == expiries_max;
  if (more_expiries_) RINGDHCP_PROBE(more_expiries_than_a_turn_takes);
  if (now_.monotonic_ns >= housekeeping_at_ns_) Housekeeping();
  if (draining_) AdvanceDrain();
  metrics_.ready.store(metrics_.served_interfaces.Get() > 0 && store_ok() && !draining_,
                       std::memory_order_relaxed);
  metrics_.last_turn_ns.Set(static_cast<std::uint64_t>(now_.monotonic_ns));
  metrics_.turns.Add();
}

void Shard::Classify(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::kReceived:
      return OnReceived(completion);
    case Completion::Kind::kStopped:
      return OnStopped(completion);
    case Completion::Kind::kSent:
      return OnSent(completion);
    case Completion::Kind::kDetached:
      return OnDetached(*interfaces_[completion.interface.value]);
    case Completion::Kind::kWake:
      return;  // what it announces is looked at in every turn
  }
}

void Shard::OnReceived(const Completion& completion) {
  ServedInterface& interface = *interfaces_[completion.interface.value];
  const ReceivedDatagram& datagram = completion.datagram;
  const std::size_t type = datagram.truncated ? 0 : TypeSlot(PeekMessageType(datagram.payload));
  interface.metrics->received[type].Add();

  std::optional<DropReason> drop;
  if (datagram.truncated) {
    drop = DropReason::kTruncated;
  } else if (draining_) {
    drop = DropReason::kStopping;
  } else if (!interface.serving()) {
    RINGDHCP_PROBE(datagram_of_a_link_that_goes);
    drop = DropReason::kInterfaceGone;
  }
  if (drop) {
    interface.CountDrop(*drop);
    seams_.ring.ReturnBuffer(interface.slot, datagram.buffer);
    return;
  }
  IngressPacket packet;
  packet.buffer = datagram.buffer;
  packet.payload = datagram.payload;
  packet.source = datagram.source;
  packet.source_port = datagram.source_port;
  packet.local = datagram.local;
  packet.broadcast = datagram.destination != datagram.local;
  packet.is_discover = type == TypeSlot(MessageType::kDiscover);
  packet.arrival_ns = now_.monotonic_ns;
  if (const auto evicted = interface.ingress.Push(packet)) {
    RINGDHCP_PROBE(overload_evicts_discover);
    interface.CountDrop(DropReason::kOverloadDiscover);
    seams_.ring.ReturnBuffer(interface.slot, evicted->buffer);
  }
  scheduler_.Activate(interface.slot);
}

void Shard::OnStopped(const Completion& completion) {
  ServedInterface& interface = *interfaces_[completion.interface.value];
  if (completion.error == 0 && RINGDHCP_CANARY(stop_overlooked)) return;
  interface.receive_stopped = true;
  interface.rearm_at_ns = now_.monotonic_ns;
  if (completion.error == ENOBUFS) {
    interface.metrics->receive_buffers_empty.Add();
    RINGDHCP_PROBE(receive_buffers_empty);
  } else if (completion.error != 0) {
    RINGDHCP_PROBE(receive_ends_with_error);
    interface.rearm_at_ns += kRearmDelayNs;
  }
}

void Shard::OnSent(const Completion& completion) {
  SendSlot& slot = slots_[completion.slot];
  ServedInterface& interface = *interfaces_[slot.interface.value];
  interface.egress.OnSent();
  if (completion.error == 0) {
    interface.metrics->replies[TypeSlot(slot.type)].Add();
    interface.metrics->reply_delay.Record(now_.monotonic_ns - slot.arrival_ns);
    slots_.Return(completion.slot);
    return;
  }
  if (!interface.serving()) {
    RINGDHCP_PROBE(send_on_a_link_that_goes);
    return DropSlot(completion.slot, DropReason::kInterfaceGone);
  }
  if (completion.error != EAGAIN && completion.error != ENOBUFS) {
    RINGDHCP_PROBE(send_refused);
    return DropSlot(completion.slot, DropReason::kSendFailed);
  }
  interface.metrics->sends_deferred.Add();
  interface.egress.Pause(now_.monotonic_ns + limits_.egress_pause_ns);
  if (interface.egress.full()) {
    RINGDHCP_PROBE(deferred_send_finds_no_room);
    return DropSlot(completion.slot, DropReason::kEgressQueueFull);
  }
  interface.egress.Push({completion.slot, slot.deadline_ns});
}

void Shard::TakeStoreResult() {
  if (!commits_.in_flight() || RINGDHCP_BUGGIFY(result_later)) return;
  const std::optional<CommitPort::Result> result = seams_.store.TakeResult();
  if (!result) {
    if (store_ok() && now_.monotonic_ns - submitted_at_ns_ > limits_.store_stall_ns) {
      RINGDHCP_PROBE(store_stalls);
      SetStoreState(StoreState::kStalled, "a commit takes more than a second");
    }
    return;
  }
  metrics_.commit_duration.Record(result->commit_ns);
  commits_.OnResult(result->result.outcome);
  if (result->result.outcome == BatchOutcome::kDurable) {
    const auto rows = commits_.last_durable_rows();
    seams_.engine.OnDurable(rows, commits_.durable_seq());
    metrics_.commits.Add();
    metrics_.commit_rows.Add(rows.size());
    SetStoreState(StoreState::kWorking, "");
    return;
  }
  metrics_.commit_failures.Add();
  if (result->result.outcome == BatchOutcome::kUnknown) RINGDHCP_PROBE(commit_unknown);
  if (result->result.outcome == BatchOutcome::kFailed) RINGDHCP_PROBE(commit_failed);
  store_retry_at_ns_ = now_.monotonic_ns + limits_.store_retry_ns;
  SetStoreState(StoreState::kFailed, std::string(result->result.status.message()));
}

void Shard::SetStoreState(StoreState state, const std::string& cause) {
  if (state == store_state_ && cause == store_cause_) return;
  const StoreState before = store_state_;
  store_state_ = state;
  store_cause_ = cause;
  metrics_.store_ok.store(store_ok(), std::memory_order_relaxed);
  if (state != StoreState::kWorking) {
    seams_.logger.Error(
        "the lease store is failing: no new leases until it works again, none is lost",
        {{"cause", cause}});
  } else if (before != StoreState::kWorking) {
    RINGDHCP_PROBE(store_recovers);
    seams_.logger.Info("the lease store works again", {});
  }
}

void Shard::ReleaseHeld() {
  while (const auto* held = gate_.Released(commits_.durable_seq())) {
    if (RINGDHCP_BUGGIFY(release_later)) break;
    // A commit may release more replies than an egress queue holds. An interface that takes what it
    // is given has room again in the next turn; one that is clogged must not keep the others
    // waiting, and loses what it can't hold.
    const ServedInterface& interface = *interfaces_[slots_[held->slot].interface.value];
    const bool room =
        interface.egress.waiting() + limits_.batch_packets_max < limits_.egress_queue_max;
    if (!room && !interface.egress.Clogged(now_.monotonic_ns)) {
      RINGDHCP_PROBE(released_reply_waits_for_room);
      break;
    }
    Enqueue(gate_.Take().slot);
  }
  while (const auto held = gate_.TakeExpired(now_.monotonic_ns)) {
    RINGDHCP_PROBE(held_too_long);
    DropSlot(held->slot, DropReason::kHeldTooLong);
  }
}

bool Shard::HasCredit() const {
  if (slots_.free() == 0 || RINGDHCP_BUGGIFY(no_credit)) return false;
  // A failing store takes no mutations and its held replies only age, so nothing is gained by
  // letting packets wait: they are answered from memory or dropped and counted.
  if (store_ok() && commits_.Free() == 0) RINGDHCP_PROBE(commit_queue_full);
  if (store_ok() && gate_.full()) RINGDHCP_PROBE(ack_gate_full);
  return !store_ok() || (commits_.Free() > 0 && !gate_.full());
}

void Shard::ServeBatch() {
  for (std::size_t served = 0; served < limits_.batch_packets_max && HasCredit(); ++served) {
    if (RINGDHCP_BUGGIFY(short_batch)) return;
    const std::optional<InterfaceSlot> next = scheduler_.Next();
    if (!next) return;
    ServedInterface& interface = *interfaces_[next->value];
    const IngressPacket packet = interface.ingress.Pop(now_.monotonic_ns);
    if (interface.ingress.empty()) scheduler_.Deactivate(*next);
    Serve(interface, packet);
  }
}

void Shard::Serve(ServedInterface& interface, const IngressPacket& packet) {
  const std::int64_t waited_ns = now_.monotonic_ns - packet.arrival_ns;
  interface.metrics->queue_delay.Record(waited_ns);
  std::optional<DropReason> drop;
  if (waited_ns > config_.stale_after_ms * kNanosecondsPerMillisecond) {
    RINGDHCP_PROBE(packet_stale);
    drop = DropReason::kStale;
  } else {
    drop = Decode(packet.payload, message_);
  }
  // The message holds no pointer into the buffer, so the kernel can have it back before the rest.
  if (!drop || !RINGDHCP_CANARY(lost_buffer)) {
    seams_.ring.ReturnBuffer(interface.slot, packet.buffer);
  }
  if (drop) return interface.CountDrop(*drop);

  interface.view.broadcast = packet.broadcast;
  seams_.engine.Handle(message_, interface.view, now_, store_ok(), decision_);
  if (decision_.has_mutation) {
    const CommitSeq seq = commits_.Append(decision_.mutation);
    seams_.engine.OnQueued(decision_.mutation.address, seq);
    decision_.gate = seq;
  }
  if (decision_.kind == Decision::Kind::kDrop) return interface.CountDrop(decision_.drop_reason);
  MakeReply(interface, packet);
}

void Shard::MakeReply(ServedInterface& interface, const IngressPacket& packet) {
  const Reply& reply = builder_.Build(message_, decision_);
  const std::optional<ReplyRoute> route = RouteReply(
      message_.header, message_.type, decision_.reply_type, decision_.yiaddr, packet.source,
      interface.sockets.packet_fd >= 0, interface.view.IsOnLink(packet.source));
  if (!route) {
    RINGDHCP_PROBE(no_reply_route);
    return interface.CountDrop(DropReason::kNoReplyRoute);
  }

  const SendSlotId id = slots_.Take();
  SendSlot& slot = slots_[id];
  slot.interface = interface.slot;
  slot.life = interface.life;
  slot.route = *route;
  if (RINGDHCP_CANARY(relay_port)) slot.route.port = 68;
  slot.source =
      IsHostAddress(decision_.server_identifier) ? decision_.server_identifier : packet.local;
  slot.type = decision_.reply_type;
  slot.arrival_ns = packet.arrival_ns;
  const std::size_t payload_max = MaximumPayload(message_.options, interface.mtu);
  const EncodeResult encoded = Encode(reply, payload_max, PayloadOf(id));
  interface.metrics->options_dropped.Add(encoded.options_dropped);
  slot.size = static_cast<std::uint16_t>(encoded.size);
  if (slot.size == 0) return DropSlot(id, DropReason::kReplyTooLarge);

  if (decision_.gate <= commits_.durable_seq() || config_.durability == Durability::kRelaxed ||
      RINGDHCP_CANARY(ack_before_commit)) {
    return Enqueue(id);
  }
  if (gate_.full()) {
    RINGDHCP_PROBE(no_room_to_hold_a_reply);
    return DropSlot(id, DropReason::kStoreUnavailable);
  }
  gate_.Hold({id, decision_.gate, now_.monotonic_ns + limits_.held_max_ns});
}

void Shard::Enqueue(SendSlotId id) {
  SendSlot& slot = slots_[id];
  ServedInterface& interface = *interfaces_[slot.interface.value];
  if (!interface.serving() || interface.life != slot.life) {
    RINGDHCP_PROBE(held_reply_of_a_link_that_went);
    return DropSlot(id, DropReason::kInterfaceGone);
  }
  if (interface.egress.full()) {
    RINGDHCP_PROBE(egress_queue_full);
    return DropSlot(id, DropReason::kEgressQueueFull);
  }
  slot.deadline_ns = now_.monotonic_ns + limits_.egress_max_ns;
  interface.egress.Push({id, slot.deadline_ns});
}

void Shard::DropSlot(SendSlotId id, DropReason reason) {
  if (!RINGDHCP_CANARY(drop_not_counted)) {
    interfaces_[slots_[id].interface.value]->CountDrop(reason);
  }
  if (!RINGDHCP_CANARY(lost_slot)) slots_.Return(id);
}

void Shard::SealCommit() {
  if (commits_.in_flight() || RINGDHCP_BUGGIFY(seal_later)) return;
  if (commits_.pending_rows() == 1 && RINGDHCP_CANARY(lone_row_waits)) return;
  if (commits_.has_retry() && now_.monotonic_ns < store_retry_at_ns_) return;
  const LeaseBatch* batch = commits_.Seal();
  if (batch == nullptr) return;
  submitted_at_ns_ = now_.monotonic_ns;
  seams_.store.Submit(batch);
}

void Shard::PumpEgress(ServedInterface& interface) {
  while (const auto expired = interface.egress.TakeExpired(now_.monotonic_ns)) {
    RINGDHCP_PROBE(egress_expired);
    DropSlot(expired->slot, DropReason::kEgressExpired);
  }
  while (const auto ready = interface.egress.TakeReady(now_.monotonic_ns)) {
    const SendSlot& slot = slots_[ready->slot];
    SendRequest request;
    request.interface = slot.interface;
    request.slot = ready->slot;
    request.payload = PayloadOf(ready->slot).first(slot.size);
    request.source = slot.source;
    request.destination = slot.route.destination;
    request.destination_port = slot.route.port;
    request.link_layer = slot.route.kind == ReplyRouteKind::kLinkLayer;
    request.hardware_address = slot.route.hardware_address;
    seams_.ring.Send(request);
  }
}

void Shard::Rearm(ServedInterface& interface) {
  if (!interface.receive_stopped || now_.monotonic_ns < interface.rearm_at_ns) return;
  // With few buffers it would stop again at once, and each stop costs a pass through the ring.
  if (seams_.ring.FreeBuffers(interface.slot) * 2 < seams_.ring.buffers_per_interface()) {
    RINGDHCP_PROBE(rearm_waits_for_buffers);
    return;
  }
  if (RINGDHCP_BUGGIFY(rearm_later)) return;
  interface.receive_stopped = false;
  interface.metrics->receive_rearms.Add();
  seams_.ring.Arm(interface.slot);
}

void Shard::Housekeeping() {
  housekeeping_at_ns_ = now_.monotonic_ns + kNanosecondsPerSecond;
  for (const auto& interface : interfaces_) {
    if (!interface || !interface->serving()) continue;
    if (const auto drops = seams_.receive_drops(interface->sockets.udp_fd)) {
      interface->metrics->kernel_receive_drops.Set(interface->earlier_receive_drops + *drops);
    }
  }
  metrics_.held_replies.Set(gate_.size());
  metrics_.pending_rows.Set(commits_.pending_rows());
  std::vector<SubnetCounts> counts = seams_.engine.Counts();
  const std::lock_guard lock(status_mutex_);
  subnet_counts_.swap(counts);
}

void Shard::RequestDrain() { draining_ = true; }

void Shard::AdvanceDrain() {
  if (!scheduler_.idle() || commits_.pending_rows() > 0 || gate_.size() > 0) return;
  for (const auto& interface : interfaces_) {
    if (!interface || !interface->serving()) continue;
    if (interface->egress.empty() && interface->egress.in_flight() == 0) Detach(*interface);
  }
}

bool Shard::drained() const {
  if (!draining_ || commits_.pending_rows() > 0) return false;
  return std::all_of(interfaces_.begin(), interfaces_.end(), [](const auto& interface) {
    return !interface || interface->state == ServedInterface::State::kIdle;
  });
}

ShardHoldings Shard::Holdings() const {
  ShardHoldings holdings;
  holdings.slots_taken = slots_.count() - slots_.free();
  holdings.held_replies = gate_.size();
  holdings.pending_rows = commits_.pending_rows();
  for (const auto& interface : interfaces_) {
    if (!interface) continue;
    holdings.packets += interface->ingress.size();
    holdings.egress_waiting += interface->egress.waiting();
    holdings.egress_in_flight += interface->egress.in_flight();
  }
  return holdings;
}

std::span<std::uint8_t> Shard::PayloadOf(SendSlotId id) {
  return {payloads_.get() + id.value * kReplyPayloadMax, kReplyPayloadMax};
}

std::int64_t Shard::WaitTime() const {
  if (more_expiries_ || (!scheduler_.idle() && HasCredit())) return 0;
  std::int64_t wait_ns = limits_.idle_wait_ns;
  for (const auto& interface : interfaces_) {
    if (!interface || !interface->serving()) continue;
    if (!interface->egress.empty()) wait_ns = std::min(wait_ns, limits_.egress_pause_ns);
    if (interface->receive_stopped) wait_ns = std::min(wait_ns, kRearmDelayNs);
  }
  return wait_ns;
}

bool Shard::IsHostAddress(Ipv4Address address) const {
  return std::binary_search(host_addresses_.begin(), host_addresses_.end(), address);
}

std::vector<SubnetCounts> Shard::Subnets() const {
  const std::lock_guard lock(status_mutex_);
  return subnet_counts_;
}

std::vector<InterfaceStatus> Shard::Interfaces() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

}  // namespace ringdhcp
