#ifndef RINGDHCP_TEST_SIM_SIMULATION_H_
#define RINGDHCP_TEST_SIM_SIMULATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/shard/shard.h"
#include "test/sim/clients.h"
#include "test/sim/event_queue.h"
#include "test/sim/fairness_audit.h"
#include "test/sim/fault_store.h"
#include "test/sim/options.h"
#include "test/sim/promise_audit.h"
#include "test/sim/random.h"
#include "test/sim/rogues.h"
#include "test/sim/sim_clock.h"
#include "test/sim/sim_network.h"
#include "test/sim/trace.h"
#include "test/sim/verdict.h"
#include "test/support/fake_ring.h"

namespace ringdhcp::sim {

struct SimulationResult {
  std::string invariant;  // empty: none was violated
  std::string message;
  std::string last_events;
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  std::uint64_t turns = 0, acks = 0, replies = 0, arrived = 0, crashes = 0;
  std::int64_t simulated_ns = 0;
  std::int64_t heal_ns = 0;  // from the end of the faults until all were bound
  bool ok() const { return invariant.empty(); }
};

/// One run: the unchanged Shard, LeaseEngine and CommitQueue of the server in a world made of a
/// seed. First everything that was drawn goes wrong, then nothing does any more and the clients
/// must all get a lease, then they fall silent and the books must balance.
class Simulation final : public FakeRingWorld {
 public:
  Simulation(const Options& options, bool print_trace);
  ~Simulation() override;
  SimulationResult Run();

  // FakeRingWorld.
  void Wait(std::int64_t wait_ns) override;
  std::size_t CutBatch(std::size_t ready) override;
  int SendError(InterfaceSlot interface) override;
  void OnHandedOver(SendSlotId slot) override;
  void OnSent(const FakeRing::Sent& sent) override;
  void OnHandedOut(InterfaceSlot interface) override;
  void OnReturned(InterfaceSlot interface) override;
  void OnDetach(InterfaceSlot interface) override;
  void OnAttach(InterfaceSlot interface, const InterfaceSockets& sockets) override;

 private:
  class Links;
  class SilentLogger;

  void StartServer();
  void StopServer();
  void Crash();
  void Restart();
  void TurnUntil(std::int64_t until_ns);
  void Turn();
  void CheckBooks();
  void CheckReplyBooks(const std::string& when);
  void Heal();
  void Converge();
  void Silence();
  SimulationResult Result() const;

  // faults.cc
  void ScheduleFaults();
  void ScheduleCrash();
  void ScheduleLink();
  void ScheduleClog();
  void HoldSends(std::uint32_t interface, bool hold);
  void ScheduleWallStep();
  void ScheduleReceiveFaults();
  void SetLink(std::uint16_t interface, bool up);

  void ToServer(std::uint16_t interface, const FakeRing::Datagram& datagram);
  void Note(TraceKind kind, std::uint16_t interface = 0, std::int64_t number = 0);

  const Options options_;
  EventQueue events_;
  Trace trace_;
  Verdict verdict_;
  SimClock clock_;
  Random random_;
  FaultStore store_;
  PromiseAudit promises_;
  FairnessAudit fairness_;
  SimNetwork network_;
  Clients clients_;
  Rogues rogues_;
  std::unique_ptr<Links> links_;
  std::unique_ptr<SilentLogger> logger_;

  // The server of now; null while it is down.
  std::unique_ptr<FakeRing> ring_;
  std::unique_ptr<LeaseEngine> engine_;
  std::unique_ptr<Shard> shard_;

  std::vector<std::int64_t> handed_over_ns_;  // by send slot
  // The shard gives an interface the slot it likes.
  std::vector<std::uint16_t> interface_of_slot_;
  std::vector<std::optional<InterfaceSlot>> slot_of_interface_;  // while attached

  bool poked_ = false;  // something happened to the ring
  bool crash_wanted_ = false;
  bool restart_wanted_ = false;
  bool healed_ = false;
  std::uint64_t lives_ = 0;
  std::uint64_t turns_ = 0, replies_ = 0, arrived_ = 0, crashes_ = 0;
  std::int64_t healed_ns_ = 0;
  std::int64_t heal_took_ns_ = 0;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_SIMULATION_H_
