#ifndef RINGDHCP_TEST_SIM_ROGUES_H_
#define RINGDHCP_TEST_SIM_ROGUES_H_

#include <cstdint>

#include "test/sim/clients.h"
#include "test/sim/event_queue.h"
#include "test/sim/options.h"
#include "test/sim/random.h"
#include "test/sim/sim_network.h"

namespace ringdhcp::sim {

/// Stations that don't follow the protocol: floods of DISCOVERs and of REQUESTs, messages in the
/// name of others, REQUESTs to other servers, garbage. (Those that misuse it by its own rules, by
/// DECLINE for one, are Clients.) A station that speaks in another's name does so on that one's own
/// link, where the order of arrival is the order of service.
class Rogues {
 public:
  Rogues(const Options& options, EventQueue& events, SimNetwork& network, const Clients& clients);
  void Heal() { healed_ = true; }

 private:
  void Next(std::uint32_t rogue);
  void Flood(std::uint32_t domain, std::uint32_t rate, std::int64_t until_ns, bool requests);
  void InTheNameOf(const Client& victim);
  void ToAnotherServer(const Domain& domain);
  void Garbage(const Domain& domain);
  Packet MakePacket(std::uint8_t type, std::uint64_t station);

  const Options& options_;
  EventQueue& events_;
  SimNetwork& network_;
  const Clients& clients_;
  Random random_;
  bool healed_ = false;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_ROGUES_H_
