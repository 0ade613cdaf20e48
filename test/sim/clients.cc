#include "test/sim/clients.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace ringdhcp::sim {
namespace {

constexpr std::int64_t kMillisecond = kNanosecondsPerMillisecond;
constexpr std::int64_t kSecond = kNanosecondsPerSecond;
constexpr std::uint32_t kTriesMax = 4;

bool HasLease(ClientState state) {
  return state == ClientState::kBound || state == ClientState::kRenewing ||
         state == ClientState::kRebinding;
}

}  // namespace

Clients::Clients(const Options& options, EventQueue& events, SimNetwork& network, Trace& trace)
    : options_(options),
      events_(events),
      network_(network),
      trace_(trace),
      random_(options.seed, 4),
      movers_left_(options.movers) {
  Make();
}

void Clients::Make() {
  const bool identifiers = random_.OneIn(2);
  for (std::uint32_t d = 0; d < options_.domains.size(); ++d) {
    for (std::uint32_t i = 0; i < options_.domains[d].clients; ++i) {
      Client client;
      client.domain = d;
      client.station = 0x020000000000 + next_station_++;
      if (identifiers && random_.OneIn(3)) {
        client.client_id.assign(random_.OneIn(2) ? 7 : 40, static_cast<std::uint8_t>(i));
        client.client_id[1] = static_cast<std::uint8_t>(client.station >> 8);
        client.client_id[2] = static_cast<std::uint8_t>(client.station);
      }
      client.wants_broadcast = random_.OneIn(3);
      client.roams = options_.Has(kRoaming) && !random_.OneIn(3);
      Add(std::move(client), 20'000);
    }
  }
  for (std::uint32_t i = 0; i < options_.rogues; ++i) {
    Client rogue;
    rogue.well_behaved = false;
    const auto last_domain = static_cast<std::uint32_t>(options_.domains.size() - 1);
    rogue.domain = random_.Number(0, last_domain);
    rogue.station = 0x0A0000000000 + i;
    switch (random_.Number(0, 2)) {
      case 0:
        rogue.always_declines = true;
        break;
      case 1:
        rogue.vanishes = true;
        break;
      default:  // a copy of another's hardware address, on the same network
        const Client& original =
            clients_[random_.Number(0, static_cast<std::uint32_t>(clients_.size() - 1))];
        rogue.station = original.station;
        rogue.domain = original.domain;
        if (random_.OneIn(2)) rogue.client_id = {1, 2, 3, static_cast<std::uint8_t>(i)};
        // The two can't both be served, and nobody could tell which one is meant.
        for (const std::uint32_t index : by_station_[rogue.station]) {
          if (std::exchange(clients_[index].well_behaved, false)) --well_behaved_;
        }
    }
    Add(std::move(rogue), 20'000);
  }
}

void Clients::Add(Client client, std::int64_t start_max_ms) {
  const auto index = static_cast<std::uint32_t>(clients_.size());
  by_station_[client.station].push_back(index);
  if (client.well_behaved) ++well_behaved_;
  clients_.push_back(std::move(client));
  Timer(index, random_.Between(0, start_max_ms) * kMillisecond);
}

void Clients::Enter(std::uint32_t index, ClientState state) {
  Client& client = clients_[index];
  if (client.well_behaved) {
    if (HasLease(client.state)) --bound_;
    if (HasLease(state)) ++bound_;
  }
  client.state = state;
  trace_.Add({events_.now_ns(), TraceKind::kClientState, 0, DomainOf(client).interface, client.xid,
              client.station, client.address, static_cast<std::int64_t>(state)});
}

void Clients::Timer(std::uint32_t index, std::int64_t delay_ns) {
  const std::uint64_t number = ++clients_[index].timer;
  events_.After(delay_ns, [this, index, number] {
    if (clients_[index].timer == number && !stopped_) OnTimer(index);
  });
}

void Clients::OnTimer(std::uint32_t index) {
  Client& client = clients_[index];
  const std::int64_t now = events_.now_ns();
  switch (client.state) {
    case ClientState::kOff:
      if (healed_ && !client.well_behaved) return;
      return Boot(index);
    case ClientState::kInit:
      return StartDiscover(index);
    case ClientState::kSelecting:
    case ClientState::kRequesting:
    case ClientState::kRebooting:
      return Retransmit(index);
    case ClientState::kBound:
      if (now < client.t1_ns) return Roam(index);
      return Renew(index, false);
    case ClientState::kRenewing:
      return Renew(index, now >= client.t2_ns);
    case ClientState::kRebinding:
      if (now < client.end_ns) return Renew(index, true);
      Enter(index, ClientState::kInit);
      return StartDiscover(index);
  }
}

void Clients::Boot(std::uint32_t index) {
  Client& client = clients_[index];
  if (client.address.IsZero() || random_.OneIn(4)) {
    Enter(index, ClientState::kInit);
    return StartDiscover(index);
  }
  client.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
  client.tries = 0;
  Enter(index, ClientState::kRebooting);
  Retransmit(index);
}

void Clients::StartDiscover(std::uint32_t index) {
  Client& client = clients_[index];
  client.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
  client.tries = 0;
  Enter(index, ClientState::kSelecting);
  Retransmit(index);
}

// RFC 2131 section 4.1: after 4 s, then twice as long each time, give or take a second.
void Clients::Retransmit(std::uint32_t index) {
  Client& client = clients_[index];
  if (client.tries > kTriesMax || (client.tries > 2 && client.state != ClientState::kSelecting)) {
    Enter(index, ClientState::kInit);
    return Timer(index, random_.Between(100, 3000) * kMillisecond);
  }
  if (client.tries == 0) client.asked_ns = events_.now_ns();
  const std::int64_t pause_ns = (4 * kSecond << std::min<std::uint32_t>(client.tries, 3)) +
                                random_.Between(-1000, 1000) * kMillisecond;
  ++client.tries;
  Timer(index, pause_ns);
  SendMessage(index, client.state == ClientState::kSelecting ? kDiscover : kRequest);
}

Packet Clients::MakePacket(const Client& client, std::uint8_t type) const {
  Packet packet;
  packet.type = type;
  packet.xid = client.xid;
  packet.SetStation(client.station);
  packet.flags = client.wants_broadcast ? 0x8000 : 0;
  if (!client.client_id.empty()) packet.Add(kOptionClientId, client.client_id);
  return packet;
}

void Clients::SendMessage(std::uint32_t index, std::uint8_t type, Ipv4Address unicast_source) {
  const Client& client = clients_[index];
  Packet packet = MakePacket(client, type);
  if (HasLease(client.state)) {
    packet.ciaddr = client.address;
    if (type == kDecline) {
      packet.ciaddr = Ipv4Address();
      packet.AddAddress(kOptionRequested, client.address);
    }
    if (type == kRelease || type == kDecline) packet.AddAddress(kOptionServer, client.server);
  } else if (type == kDiscover) {
    if (!client.address.IsZero()) packet.AddAddress(kOptionRequested, client.address);
  } else {
    packet.AddAddress(kOptionRequested, client.address);
    if (client.state == ClientState::kRequesting) packet.AddAddress(kOptionServer, client.server);
  }
  if ((type == kDiscover || type == kRequest) && client.station % 7 == 0) {
    packet.AddNumber(kOptionLeaseTime, static_cast<std::uint32_t>(client.station % 1000));
  }
  if (client.station % 5 == 0) packet.Add(12, {'h', static_cast<std::uint8_t>('a' + index % 26)});
  packet.Add(55, {1, 3, 6, 15});
  network_.Send(DomainOf(client), std::move(packet), unicast_source);
}

void Clients::OnReply(std::uint16_t interface, const Packet& packet) {
  const auto stations = by_station_.find(packet.Station());
  if (stations == by_station_.end() || stopped_) return;
  for (const std::uint32_t index : std::vector<std::uint32_t>(stations->second)) {
    const Client& client = clients_[index];
    if (DomainOf(client).interface != interface || client.xid != packet.xid) continue;
    switch (client.state) {
      case ClientState::kSelecting:
        if (packet.type == kOffer) OnOffer(index, packet);
        break;
      case ClientState::kRequesting:
      case ClientState::kRebooting:
      case ClientState::kRenewing:
      case ClientState::kRebinding:
        if (packet.type == kAck && packet.yiaddr == client.address) OnAck(index, packet);
        if (packet.type == kNak) {
          clients_[index].address = Ipv4Address();
          Enter(index, ClientState::kInit);
          Timer(index, random_.Between(10, 1000) * kMillisecond);
        }
        break;
      default:
        break;
    }
  }
}

void Clients::OnOffer(std::uint32_t index, const Packet& packet) {
  Client& client = clients_[index];
  client.address = packet.yiaddr;
  client.server = packet.FindAddress(kOptionServer).value_or(Ipv4Address());
  client.tries = 0;
  Enter(index, ClientState::kRequesting);
  Retransmit(index);
}

void Clients::OnAck(std::uint32_t index, const Packet& packet) {
  Client& client = clients_[index];
  const bool is_new = !HasLease(client.state);
  client.server = packet.FindAddress(kOptionServer).value_or(Ipv4Address());
  client.t1_ns = client.asked_ns + packet.FindNumber(kOptionT1).value_or(0) * kSecond;
  client.t2_ns = client.asked_ns + packet.FindNumber(kOptionT2).value_or(0) * kSecond;
  client.end_ns = client.asked_ns + packet.FindNumber(kOptionLeaseTime).value_or(0) * kSecond;
  Enter(index, ClientState::kBound);
  ++times_bound_;
  const bool declines = client.always_declines || (client.roams && random_.OneIn(60));
  if (is_new && !healed_ && declines) return GiveUp(index, kDecline);
  if (client.vanishes && !healed_) {
    Enter(index, ClientState::kOff);
    std::erase(by_station_[client.station], index);
    client.station = 0x0B0000000000 + next_station_++;
    client.address = Ipv4Address();
    by_station_[client.station].push_back(index);
    return Timer(index, random_.Between(500, 8000) * kMillisecond);
  }
  std::int64_t next_ns = client.t1_ns - events_.now_ns();
  if (client.roams && !healed_) {
    next_ns = std::min(next_ns, random_.Between(1000, 120'000) * kMillisecond);
  }
  Timer(index, next_ns);
}

// RFC 2131 section 4.4.5: half of what remains, but not at once again.
void Clients::Renew(std::uint32_t index, bool rebind) {
  Client& client = clients_[index];
  const std::int64_t now = events_.now_ns();
  if (now >= client.end_ns) {
    Enter(index, ClientState::kInit);
    return StartDiscover(index);
  }
  rebind = rebind || now >= client.t2_ns;
  const ClientState state = rebind ? ClientState::kRebinding : ClientState::kRenewing;
  if (client.state != state) {
    client.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
    client.asked_ns = now;
    Enter(index, state);
  }
  const std::int64_t until_ns = rebind ? client.end_ns : client.t2_ns;
  const std::int64_t pause_ns = std::max((until_ns - now) / 2, 4 * kSecond);
  Timer(index, std::min(pause_ns, until_ns - now));
  SendMessage(index, kRequest, rebind ? Ipv4Address() : client.address);
}

void Clients::GiveUp(std::uint32_t index, std::uint8_t type) {
  Client& client = clients_[index];
  client.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
  SendMessage(index, type, type == kRelease ? client.address : Ipv4Address());
  if (type == kDecline || random_.OneIn(3)) client.address = Ipv4Address();
  Enter(index, type == kDecline ? ClientState::kInit : ClientState::kOff);
  Timer(index, random_.Between(1000, type == kDecline ? 10'000 : 60'000) * kMillisecond);
}

// What happens to hosts while they have a lease.
void Clients::Roam(std::uint32_t index) {
  Client& client = clients_[index];
  if (healed_ || !client.roams) return Timer(index, client.t1_ns - events_.now_ns());
  switch (random_.Number(0, 5)) {
    case 0:
      return GiveUp(index, kRelease);
    case 1:  // INFORM: it has its address, and asks for the rest
      client.xid = static_cast<std::uint32_t>(random_.Next()) | 1;
      SendMessage(index, kInform, client.address);
      break;
    case 2:  // no power for a moment, or for long
      Enter(index, ClientState::kOff);
      if (random_.OneIn(5)) client.address = Ipv4Address();
      return Timer(index, random_.Between(100, random_.OneIn(3) ? 300'000 : 5000) * kMillisecond);
    case 3:
      if (movers_left_ == 0) break;
      --movers_left_;
      Move(client);
      Enter(index, ClientState::kOff);
      return Timer(index, random_.Between(100, 5000) * kMillisecond);
    default:
      break;
  }
  const std::int64_t pause_ns = random_.Between(1000, 120'000) * kMillisecond;
  Timer(index, std::min(client.t1_ns - events_.now_ns(), pause_ns));
}

void Clients::Move(Client& client) {
  client.domain = random_.Number(0, static_cast<std::uint32_t>(options_.domains.size() - 1));
}

void Clients::Heal() {
  healed_ = true;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (!client.well_behaved && (client.always_declines || client.vanishes)) {
      Enter(i, ClientState::kOff);
      ++client.timer;
    } else if (client.state == ClientState::kOff) {
      Timer(i, random_.Between(0, 5000) * kMillisecond);
    }
  }
}

void Clients::Stop() { stopped_ = true; }

std::string Clients::DescribeUnbound() const {
  for (const Client& client : clients_) {
    if (!client.well_behaved || HasLease(client.state)) continue;
    return absl::StrFormat("station %012x on if%d (%u of %u clients have a lease) is in state %d",
                           client.station, DomainOf(client).interface, bound_, well_behaved_,
                           static_cast<int>(client.state));
  }
  return "";
}

}  // namespace ringdhcp::sim
