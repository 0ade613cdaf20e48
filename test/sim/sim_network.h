#ifndef RINGDHCP_TEST_SIM_SIM_NETWORK_H_
#define RINGDHCP_TEST_SIM_SIM_NETWORK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "test/sim/event_queue.h"
#include "test/sim/options.h"
#include "test/sim/random.h"
#include "test/sim/wire.h"
#include "test/support/fake_ring.h"

namespace ringdhcp::sim {

/// The wires between the stations and the server, with the relays: delays, loses, doubles and
/// reorders datagrams, or keeps those of an interface for a while and lets them go all at once.
class SimNetwork {
 public:
  struct Hooks {
    /// A datagram comes to an interface of the server.
    std::function<void(std::uint16_t interface, const FakeRing::Datagram&)> to_server;
    /// A reply comes to the stations on an interface's link or behind its relays.
    std::function<void(std::uint16_t interface, const Packet&)> to_stations;
  };
  SimNetwork(const Options& options, EventQueue& events, Hooks hooks);

  /// A station of the domain sends. By broadcast a relay takes it; by unicast (source is the
  /// station's address) it comes to the server as it is.
  void Send(const Domain& domain, Packet packet, Ipv4Address source = {});
  /// Raw octets to an interface of the server.
  void SendOctets(std::uint16_t interface, std::vector<std::uint8_t> octets, Ipv4Address source);
  void FromServer(const FakeRing::Sent& sent);
  void Heal();

 private:
  /// The time a datagram takes; nullopt: it is lost.
  std::optional<std::int64_t> Delay();
  void Deliver(std::uint16_t interface, FakeRing::Datagram datagram);
  void ScheduleBurst();
  void EndBurst(std::uint16_t interface);

  const Options& options_;
  EventQueue& events_;
  Hooks hooks_;
  Random random_;
  bool healed_ = false;
  struct Line {
    bool kept = false;
    std::vector<FakeRing::Datagram> waiting;
  };
  std::vector<Line> lines_;  // by interface
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_SIM_NETWORK_H_
