#include "test/sim/rogues.h"

#include <utility>

namespace ringdhcp::sim {
namespace {

constexpr std::int64_t kMillisecond = kNanosecondsPerMillisecond;
constexpr Ipv4Address kAnotherServer{0x0AFF0001};

}  // namespace

Rogues::Rogues(const Options& options, EventQueue& events, SimNetwork& network,
               const Clients& clients)
    : options_(options),
      events_(events),
      network_(network),
      clients_(clients),
      random_(options.seed, 5) {
  for (std::uint32_t i = 0; i < options.rogues; ++i) {
    events_.After(random_.Between(1, 30'000) * kMillisecond, [this, i] { Next(i); });
  }
}

void Rogues::Next(std::uint32_t rogue) {
  if (healed_) return;
  const auto domain_index =
      random_.Number(0, static_cast<std::uint32_t>(options_.domains.size() - 1));
  const Domain& domain = options_.domains[domain_index];
  switch (random_.Number(0, 5)) {
    case 0: {
      const std::uint32_t rate = random_.Number(20, options_.flood_rate_max);
      const std::int64_t until_ns = events_.now_ns() + random_.Between(100, 4000) * kMillisecond;
      Flood(domain_index, rate, until_ns, random_.OneIn(3));
      break;
    }
    case 1:
    case 2:
      InTheNameOf(
          clients_.all()[random_.Number(0, static_cast<std::uint32_t>(clients_.all().size() - 1))]);
      break;
    case 3:
      ToAnotherServer(domain);
      break;
    default:
      for (int i = 0; i < 5; ++i) Garbage(domain);
  }
  events_.After(random_.Between(100, 20'000) * kMillisecond, [this, rogue] { Next(rogue); });
}

Packet Rogues::MakePacket(std::uint8_t type, std::uint64_t station) {
  Packet packet;
  packet.type = type;
  packet.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
  packet.SetStation(station);
  return packet;
}

void Rogues::Flood(std::uint32_t domain, std::uint32_t rate, std::int64_t until_ns, bool requests) {
  if (healed_ || events_.now_ns() >= until_ns) return;
  const std::uint64_t station = 0x0C0000000000 + random_.Number(0, 1'000'000);
  Packet packet = MakePacket(requests ? kRequest : kDiscover, station);
  const Subnet& subnet = options_.config.subnets[options_.domains[domain].subnet];
  const Pool& pool = subnet.pools.front();
  if (requests) {
    packet.AddAddress(kOptionRequested,
                      Ipv4Address(random_.Number(pool.first.value, pool.last.value + 3)));
    if (random_.OneIn(2)) packet.AddAddress(kOptionServer, options_.domains[domain].server);
  }
  network_.Send(options_.domains[domain], std::move(packet));
  events_.After(2 * kNanosecondsPerSecond / rate * random_.Between(0, 100) / 100,
                [=, this] { Flood(domain, rate, until_ns, requests); });
}

void Rogues::InTheNameOf(const Client& victim) {
  static constexpr std::uint8_t kTypes[] = {kRelease, kDecline,  kRequest,
                                            kRequest, kDiscover, kInform};
  Packet packet = MakePacket(kTypes[random_.Number(0, 5)], victim.station);
  if (!victim.client_id.empty() && !random_.OneIn(3)) {
    packet.Add(kOptionClientId, victim.client_id);
  }
  const Domain& domain = clients_.DomainOf(victim);
  const bool renews = random_.OneIn(2);
  if (packet.type == kRelease || packet.type == kInform || (packet.type == kRequest && renews)) {
    packet.ciaddr = victim.address;
  } else {
    // At times another address than its own: it must not get two.
    const Pool& pool = options_.config.subnets[domain.subnet].pools.front();
    const Ipv4Address any(random_.Number(pool.first.value, pool.last.value));
    packet.AddAddress(kOptionRequested, random_.OneIn(4) ? any : victim.address);
    if (random_.OneIn(2)) packet.AddAddress(kOptionServer, domain.server);
  }
  network_.Send(domain, std::move(packet));
}

void Rogues::ToAnotherServer(const Domain& domain) {
  const std::uint64_t station = 0x0D0000000000 + random_.Number(0, 20);
  network_.Send(domain, MakePacket(kDiscover, station));
  Packet packet = MakePacket(kRequest, station);
  const Subnet& subnet = options_.config.subnets[domain.subnet];
  packet.AddAddress(kOptionRequested,
                    Ipv4Address(subnet.pools.front().first.value + random_.Number(0, 20)));
  packet.AddAddress(kOptionServer, kAnotherServer);
  events_.After(random_.Between(1, 2000) * kMillisecond,
                [this, domain, packet] { network_.Send(domain, packet); });
}

void Rogues::Garbage(const Domain& domain) {
  const std::uint64_t station = 0x0E0000000000 + random_.Number(0, 50);
  Packet packet = MakePacket(random_.OneIn(2) ? kDiscover : kInform, station);
  packet.Add(55, {1, 3, 6});
  packet.Add(57, {2, 64});
  std::vector<std::uint8_t> octets = packet.Encode();
  if (random_.OneIn(4)) octets.resize(random_.Number(1, static_cast<std::uint32_t>(octets.size())));
  const std::uint32_t flips = random_.Number(1, 12);
  for (std::uint32_t i = 0; i < flips; ++i) {
    const std::uint32_t at = random_.Number(0, static_cast<std::uint32_t>(octets.size() - 1));
    // The name stays its own: what garbage does to others is not what is judged here.
    const bool name = at >= 28 && at < 44;
    const auto octet = static_cast<std::uint8_t>(random_.Next());
    if (!name) octets[at] = octet;
  }
  network_.SendOctets(domain.interface, std::move(octets), {});
}

}  // namespace ringdhcp::sim
