#include "test/sim/sim_network.h"

#include <utility>

namespace ringdhcp::sim {
namespace {

constexpr std::size_t kBurstMax = 500;

// What a relay adds: the circuit and itself (RFC 3046 section 3).
std::vector<std::uint8_t> RelayInformation(const Packet& packet) {
  const auto circuit = static_cast<std::uint8_t>(packet.Station());
  return {1, 3, 0, 7, circuit, 2, 2, static_cast<std::uint8_t>(packet.giaddr.value >> 16), 9};
}

}  // namespace

SimNetwork::SimNetwork(const Options& options, EventQueue& events, Hooks hooks)
    : options_(options),
      events_(events),
      hooks_(std::move(hooks)),
      random_(options.seed, 3),
      lines_(options.interfaces) {
  if (options.Has(kBurst)) ScheduleBurst();
}

std::optional<std::int64_t> SimNetwork::Delay() {
  std::int64_t delay_ns = random_.Between(10'000, options_.delay_max_ns);
  if (healed_) return delay_ns;
  if (random_.PerMillion(options_.loss_ppm)) return std::nullopt;
  if (random_.PerMillion(options_.reorder_ppm)) {
    delay_ns += random_.Between(0, random_.OneIn(10) ? 12'000 : 300) * kNanosecondsPerMillisecond;
  }
  return delay_ns;
}

void SimNetwork::Send(const Domain& domain, Packet packet, Ipv4Address source) {
  if (source.IsZero() && !domain.relay.IsZero()) {
    packet.giaddr = domain.relay;
    packet.hops = 1;
    packet.Add(kOptionRelay, RelayInformation(packet));
    source = domain.relay;
  }
  SendOctets(domain.interface, packet.Encode(), source);
}

void SimNetwork::SendOctets(std::uint16_t interface, std::vector<std::uint8_t> octets,
                            Ipv4Address source) {
  const int copies = !healed_ && random_.PerMillion(options_.duplicate_ppm) ? 2 : 1;
  FakeRing::Datagram datagram;
  datagram.payload = std::move(octets);
  datagram.source = source;
  datagram.local = ServerOf(interface);
  if (!source.IsZero()) datagram.destination = datagram.local;  // a unicast: relayed or renewing
  for (int i = 0; i < copies; ++i) {
    const auto delay_ns = Delay();
    if (!delay_ns) continue;
    events_.After(*delay_ns, [this, interface, datagram] { Deliver(interface, datagram); });
  }
}

void SimNetwork::Deliver(std::uint16_t interface, FakeRing::Datagram datagram) {
  Line& line = lines_[interface];
  if (!line.kept) return hooks_.to_server(interface, datagram);
  if (line.waiting.size() < kBurstMax) line.waiting.push_back(std::move(datagram));
}

void SimNetwork::ScheduleBurst() {
  events_.After(random_.Between(1, options_.burst_every_ns), [this] {
    if (healed_) return;
    const auto interface = static_cast<std::uint16_t>(random_.Number(0, options_.interfaces - 1));
    lines_[interface].kept = true;
    events_.After(random_.Between(10, 8000) * kNanosecondsPerMillisecond,
                  [this, interface] { EndBurst(interface); });
    ScheduleBurst();
  });
}

void SimNetwork::EndBurst(std::uint16_t interface) {
  Line& line = lines_[interface];
  line.kept = false;
  for (const FakeRing::Datagram& datagram : std::exchange(line.waiting, {})) {
    hooks_.to_server(interface, datagram);
  }
}

void SimNetwork::FromServer(const FakeRing::Sent& sent) {
  auto parsed = Parse(sent.payload);
  if (!parsed) return;
  const int copies = !healed_ && random_.PerMillion(options_.duplicate_ppm) ? 2 : 1;
  const std::uint16_t interface = sent.interface.value;
  for (int i = 0; i < copies; ++i) {
    const auto delay_ns = Delay();
    if (!delay_ns) continue;
    events_.After(*delay_ns,
                  [this, interface, packet = *parsed] { hooks_.to_stations(interface, packet); });
  }
}

void SimNetwork::Heal() {
  healed_ = true;
  for (std::uint16_t i = 0; i < lines_.size(); ++i) EndBurst(i);
}

}  // namespace ringdhcp::sim
