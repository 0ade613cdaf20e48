#include "test/sim/simulation.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_format.h"
#include "test/sim/hooks.h"
#include "test/sim/sim_links.h"

namespace ringdhcp::sim {
namespace {

constexpr std::int64_t kSecond = kNanosecondsPerSecond;

FakeRingOptions RingOptions(const Options& options, FakeRingWorld* world) {
  FakeRingOptions ring;
  ring.interfaces_max = options.limits.interfaces_max;
  ring.buffers_per_interface = options.limits.receive_buffers;
  ring.buffer_payload_max = options.limits.receive_payload_max;
  ring.send_slots = options.limits.send_slots();
  ring.socket_queue_max = 256;
  ring.world = world;
  return ring;
}

std::uint64_t Sum(const auto& counters) {
  std::uint64_t sum = 0;
  for (const Counter& counter : counters) sum += counter.Get();
  return sum;
}

}  // namespace

class Simulation::SilentLogger final : public Logger {
 public:
  void Write(Level, std::string_view, std::initializer_list<Field>) override {}
};

Simulation::Simulation(const Options& options, bool print_trace)
    : options_(options),
      trace_(print_trace),
      clock_(events_, options.drift_ppm),
      random_(options.seed, 6),
      store_(options_, events_, trace_,
             {[this](const LeaseRecord& row) { promises_.OnStored(row); },
              [this] {
                poked_ = true;
                if (ring_) ring_->Wake();
              }}),
      promises_(options_, events_, clock_, store_, verdict_),
      fairness_(options_.limits.interfaces_max, options_.limits.quantum_packets, verdict_),
      network_(options_, events_,
               {[this](std::uint16_t interface, const FakeRing::Datagram& datagram) {
                  ToServer(interface, datagram);
                },
                [this](std::uint16_t interface, const Packet& packet) {
                  clients_.OnReply(interface, packet);
                }}),
      clients_(options_, events_, network_, trace_),
      rogues_(options_, events_, network_, clients_),
      links_(std::make_unique<Links>(options_, fairness_)),
      logger_(std::make_unique<SilentLogger>()) {
  StartBuggify(options.seed, options.Has(kBuggify) ? 20'000 : 0);
  ScheduleFaults();
}

Simulation::~Simulation() = default;

void Simulation::Note(TraceKind kind, std::uint16_t interface, std::int64_t number) {
  trace_.Add({events_.now_ns(), kind, 0, interface, 0, 0, {}, number});
}

void Simulation::StartServer() {
  ring_ = std::make_unique<FakeRing>(RingOptions(options_, this));
  EngineConfig config;
  config.subnets = options_.config.subnets;
  config.offer_hold_s = options_.config.offer_hold_s;
  config.decline_probation_s = options_.config.decline_probation_s;
  config.cache_threshold = options_.config.cache_threshold;
  config.reply_delay_max_ns = options_.limits.reply_delay_max_ns();
  engine_ = std::make_unique<LeaseEngine>(std::move(config), options_.seed + lives_);
  clock_.Restart();
  fairness_.Restart();
  handed_over_ns_.assign(options_.limits.send_slots(), 0);
  interface_of_slot_.assign(options_.limits.interfaces_max, 0);
  slot_of_interface_.assign(options_.interfaces, std::nullopt);
  const Now now = clock_.Read();
  for (const auto& [address, row] : store_.rows()) engine_->Load(row, now);
  if (++lives_ > 1) promises_.OnLoaded(engine_->Counts());
  const auto open = [this](const std::string&, int ifindex) -> absl::StatusOr<InterfaceSockets> {
    if (!healed_ && options_.Has(kLink) && random_.OneIn(10)) {
      return absl::AlreadyExistsError("simulated: port 67 is taken");
    }
    InterfaceSockets sockets;
    sockets.ifindex = ifindex;
    sockets.udp_fd = sockets.packet_fd = ifindex;
    return sockets;
  };
  const auto drops = [](int) -> std::optional<std::uint64_t> { return 0; };
  shard_ = std::make_unique<Shard>(
      options_.limits, options_.config,
      ShardSeams{*ring_, clock_, *engine_, store_, *links_, *logger_, open, drops});
  Note(TraceKind::kStarted, 0, static_cast<std::int64_t>(store_.rows().size()));
}

void Simulation::StopServer() {
  store_.Crash();  // first: the rows under way are the shard's
  shard_.reset();
  engine_.reset();
  ring_.reset();
  poked_ = false;
}

void Simulation::Crash() {
  crash_wanted_ = false;
  ++crashes_;
  Note(TraceKind::kCrashed);
  StopServer();
  promises_.OnCrash();
  events_.RunUntil(events_.now_ns() + random_.Between(10, 10'000) * kNanosecondsPerMillisecond);
  StartServer();
}

void Simulation::Restart() {
  restart_wanted_ = false;
  shard_->RequestDrain();
  const std::int64_t until_ns = events_.now_ns() + 5 * kSecond;
  while (!shard_->drained() && events_.now_ns() < until_ns && !verdict_.failed()) Turn();
  Note(TraceKind::kDrained, 0, shard_->drained() ? 1 : 0);
  if (shard_->drained()) CheckReplyBooks("after a drain");
  StopServer();
  promises_.OnCrash();
  events_.RunUntil(events_.now_ns() + random_.Between(10, 3000) * kNanosecondsPerMillisecond);
  StartServer();
}

void Simulation::Turn() {
  shard_->Turn();
  ++turns_;
  fairness_.OnTurnEnd(events_.now_ns());
  CheckBooks();
  const auto served = static_cast<std::int64_t>(fairness_.served_last_turn());
  events_.RunUntil(events_.now_ns() + options_.turn_cost_ns + served * options_.packet_cost_ns);
}

void Simulation::TurnUntil(std::int64_t until_ns) {
  while (events_.now_ns() < until_ns && !verdict_.failed()) {
    Turn();
    if (crash_wanted_) Crash();
    if (restart_wanted_) Restart();
  }
}

void Simulation::CheckBooks() {
  const ShardHoldings books = shard_->Holdings();
  if (books.packets != fairness_.outstanding()) {
    verdict_.Fail("conservation-buffers",
                  absl::StrFormat("the shard has %u packets and %u receive buffers", books.packets,
                                  fairness_.outstanding()));
  }
  if (books.slots_taken != books.held_replies + books.egress_waiting + books.egress_in_flight) {
    verdict_.Fail("conservation-slots",
                  absl::StrFormat("%u slots are taken; %u replies are held, %u wait, %u are sent",
                                  books.slots_taken, books.held_replies, books.egress_waiting,
                                  books.egress_in_flight));
  }
  if (books.egress_in_flight != ring_->slots_busy()) {
    verdict_.Fail("conservation-slots",
                  absl::StrFormat("the shard counts %u sends, the kernel has %u",
                                  books.egress_in_flight, ring_->slots_busy()));
  }
}

void Simulation::CheckReplyBooks(const std::string& when) {
  for (const InterfaceStatus& status : shard_->Interfaces()) {
    const std::uint64_t received = Sum(status.metrics->received);
    const std::uint64_t replies = Sum(status.metrics->replies);
    const std::uint64_t drops = Sum(status.metrics->drops);
    if (received == replies + drops) continue;
    verdict_.Fail("conservation-replies",
                  absl::StrFormat("%s %s: %u received, %u replies, %u dropped", when, status.name,
                                  received, replies, drops));
  }
}

void Simulation::Heal() {
  healed_ = true;
  healed_ns_ = events_.now_ns();
  Note(TraceKind::kHealed);
  for (std::uint16_t i = 0; i < options_.interfaces; ++i) {
    SetLink(i, true);
    HoldSends(i, false);
  }
  StartBuggify(options_.seed, 0);
  network_.Heal();
  store_.Heal();
  clients_.Heal();
  rogues_.Heal();
}

void Simulation::Converge() {
  const std::int64_t until_ns = healed_ns_ + options_.heal_max_ns;
  while (!clients_.AllBound() && events_.now_ns() < until_ns && !verdict_.failed()) {
    TurnUntil(events_.now_ns() + kSecond);
  }
  heal_took_ns_ = events_.now_ns() - healed_ns_;
  if (!clients_.AllBound()) {
    verdict_.Fail("liveness", absl::StrFormat("%d s after the last fault %s",
                                              heal_took_ns_ / kSecond, clients_.DescribeUnbound()));
  }
}

// All that came in must have been answered or counted as dropped.
void Simulation::Silence() {
  clients_.Stop();
  TurnUntil(events_.now_ns() + 20 * kSecond);
  if (verdict_.failed()) return;
  CheckReplyBooks("in silence");
  const ShardHoldings books = shard_->Holdings();
  if (books.packets != 0) {
    verdict_.Fail("conservation-buffers",
                  absl::StrFormat("in silence the shard keeps %u packets", books.packets));
  }
  if (books.slots_taken != 0) {
    verdict_.Fail("conservation-slots",
                  absl::StrFormat("in silence %u slots are taken", books.slots_taken));
  }
  if (books.pending_rows != 0) {
    verdict_.Fail("conservation-mutations",
                  absl::StrFormat("in silence %u rows are not stored", books.pending_rows));
  }
}

SimulationResult Simulation::Run() {
  const std::int64_t start_ns = events_.now_ns();
  StartServer();
  TurnUntil(start_ns + options_.fault_phase_ns);
  if (!verdict_.failed()) Heal();
  if (!verdict_.failed()) Converge();
  if (!verdict_.failed()) Silence();
  SimulationResult result = Result();
  result.simulated_ns = events_.now_ns() - start_ns;
  return result;
}

SimulationResult Simulation::Result() const {
  SimulationResult result;
  result.invariant = verdict_.invariant();
  result.message = verdict_.message();
  if (verdict_.failed()) result.last_events = trace_.Last();
  result.trace_hash = trace_.hash();
  result.events = trace_.count();
  result.turns = turns_;
  result.acks = promises_.acks();
  result.replies = replies_;
  result.arrived = arrived_;
  result.crashes = crashes_;
  result.heal_ns = heal_took_ns_;
  return result;
}

void Simulation::ToServer(std::uint16_t interface, const FakeRing::Datagram& datagram) {
  const auto slot = slot_of_interface_[interface];
  const bool arrived = ring_ && slot && ring_->Inject(*slot, datagram);
  const auto packet = Parse(datagram.payload);
  TraceEvent event;
  event.at_ns = events_.now_ns();
  event.kind = arrived ? TraceKind::kArrived : TraceKind::kNotArrived;
  event.interface = interface;
  event.number = static_cast<std::int64_t>(datagram.payload.size());
  if (packet) {
    event.message_type = packet->type;
    event.xid = packet->xid;
    event.station = packet->Station();
    event.address = packet->FindAddress(kOptionRequested).value_or(packet->ciaddr);
  }
  trace_.Add(event);
  if (!arrived) return;
  ++arrived_;
  poked_ = true;
  if (packet) promises_.OnArrived(interface, *packet);
}

void Simulation::Wait(std::int64_t wait_ns) {
  const std::int64_t until_ns = events_.now_ns() + (wait_ns < 0 ? kSecond : wait_ns);
  poked_ = false;
  while (!poked_ && events_.RunNext(until_ns)) {
  }
}

std::size_t Simulation::CutBatch(std::size_t ready) {
  if (!options_.Has(kRing) || healed_ || random_.OneIn(2)) return ready;
  return 1 + random_.Next() % ready;
}

int Simulation::SendError(InterfaceSlot) {
  if (healed_ || !random_.PerMillion(options_.send_error_ppm)) return 0;
  static constexpr int kErrors[] = {EAGAIN, ENOBUFS, EAGAIN, ENETDOWN};
  return kErrors[random_.Next() % std::size(kErrors)];
}

void Simulation::OnHandedOver(SendSlotId slot) { handed_over_ns_[slot.value] = events_.now_ns(); }

void Simulation::OnSent(const FakeRing::Sent& sent_by_slot) {
  ++replies_;
  FakeRing::Sent sent = sent_by_slot;
  sent.interface = InterfaceSlot(interface_of_slot_[sent.interface.value]);
  TraceEvent event;
  event.at_ns = events_.now_ns();
  event.kind = TraceKind::kReply;
  event.interface = sent.interface.value;
  event.number = static_cast<std::int64_t>(sent.payload.size());
  if (const auto packet = Parse(sent.payload)) {
    event.message_type = packet->type;
    event.xid = packet->xid;
    event.station = packet->Station();
    event.address = packet->yiaddr;
  }
  trace_.Add(event);
  trace_.Add(sent.payload);
  promises_.OnReply(sent, handed_over_ns_[sent.slot.value]);
  network_.FromServer(sent);
}

void Simulation::OnHandedOut(InterfaceSlot interface) {
  fairness_.OnHandedOut(interface, events_.now_ns());
}

void Simulation::OnReturned(InterfaceSlot interface) {
  fairness_.OnReturned(interface, events_.now_ns());
}

void Simulation::OnDetach(InterfaceSlot interface) {
  fairness_.OnDetach(interface);
  slot_of_interface_[interface_of_slot_[interface.value]].reset();
}

void Simulation::OnAttach(InterfaceSlot interface, const InterfaceSockets& sockets) {
  const std::uint16_t name = Links::InterfaceOf(sockets.ifindex);
  interface_of_slot_[interface.value] = name;
  slot_of_interface_[name] = interface;
}

}  // namespace ringdhcp::sim
