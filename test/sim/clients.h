#ifndef RINGDHCP_TEST_SIM_CLIENTS_H_
#define RINGDHCP_TEST_SIM_CLIENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/sim/event_queue.h"
#include "test/sim/options.h"
#include "test/sim/random.h"
#include "test/sim/sim_network.h"
#include "test/sim/trace.h"
#include "test/sim/wire.h"

namespace ringdhcp::sim {

/// Figure 5 of RFC 2131; kOff is a host that is switched off.
enum class ClientState : std::uint8_t {
  kOff,
  kInit,
  kSelecting,
  kRequesting,
  kRebooting,
  kBound,
  kRenewing,
  kRebinding,
};

struct Client {
  std::uint32_t domain = 0;  // index into Options::domains
  std::uint64_t station = 0;
  std::vector<std::uint8_t> client_id;
  bool well_behaved = true;
  bool roams = false;            // does what people do: leaves, comes back, moves
  bool always_declines = false;  // a rogue
  bool vanishes = false;         // a rogue: each time as another station
  bool wants_broadcast = false;

  ClientState state = ClientState::kOff;
  std::uint32_t xid = 0;
  std::uint32_t tries = 0;
  std::uint64_t timer = 0;  // number of the timer that counts
  Ipv4Address address;      // being asked for, held, or remembered
  Ipv4Address server;
  std::int64_t asked_ns = 0;  // first REQUEST of this exchange
  std::int64_t t1_ns = 0, t2_ns = 0, end_ns = 0;
};

/// All DHCP clients, the well-behaved and those that misuse the protocol by its own rules.
class Clients {
 public:
  Clients(const Options& options, EventQueue& events, SimNetwork& network, Trace& trace);

  void OnReply(std::uint16_t interface, const Packet& packet);
  /// Well-behaved clients come and stay; the others leave.
  void Heal();
  /// Every well-behaved client has a lease.
  bool AllBound() const { return well_behaved_ == bound_; }
  /// One that has none, for people.
  std::string DescribeUnbound() const;
  /// All are switched off, so that the network falls silent.
  void Stop();
  const std::vector<Client>& all() const { return clients_; }
  const Domain& DomainOf(const Client& client) const { return options_.domains[client.domain]; }
  std::uint64_t times_bound() const { return times_bound_; }

 private:
  void Make();
  void Add(Client client, std::int64_t start_max_ms);
  void Enter(std::uint32_t index, ClientState state);
  void Timer(std::uint32_t index, std::int64_t delay_ns);
  void OnTimer(std::uint32_t index);
  void Roam(std::uint32_t index);
  void Boot(std::uint32_t index);
  void Move(Client& client);
  void StartDiscover(std::uint32_t index);
  void Retransmit(std::uint32_t index);
  void SendMessage(std::uint32_t index, std::uint8_t type, Ipv4Address unicast_source = {});
  Packet MakePacket(const Client& client, std::uint8_t type) const;
  void OnOffer(std::uint32_t index, const Packet& packet);
  void OnAck(std::uint32_t index, const Packet& packet);
  void Renew(std::uint32_t index, bool rebind);
  void GiveUp(std::uint32_t index, std::uint8_t type);

  const Options& options_;
  EventQueue& events_;
  SimNetwork& network_;
  Trace& trace_;
  Random random_;
  std::vector<Client> clients_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_station_;
  std::uint32_t movers_left_ = 0;
  std::uint32_t next_station_ = 1;
  std::size_t well_behaved_ = 0;
  std::size_t bound_ = 0;  // well-behaved ones with a lease
  std::uint64_t times_bound_ = 0;
  bool healed_ = false;
  bool stopped_ = false;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_CLIENTS_H_
