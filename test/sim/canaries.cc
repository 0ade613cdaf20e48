// ringdhcp-sim-canaries: plants one bug after the other into the server and demands that the
// simulation catches each, by the right invariant, within a number of seeds.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "test/sim/hooks.h"
#include "test/sim/options.h"
#include "test/sim/simulation.h"

namespace ringdhcp::sim {
namespace {

constexpr std::uint64_t kSeedsMax = 200;
constexpr std::int64_t kMinutes = 3;

struct Canary {
  const char* name;
  /// What may be the first to notice.
  std::vector<std::string_view> invariants;
};

const std::vector<Canary>& AllCanaries() {
  static const std::vector<Canary> all = {
      {"ack_before_commit", {"durable-before-ack"}},
      {"gate_off_by_one", {"durable-before-ack"}},
      {"retransmission_not_gated", {"durable-before-ack"}},
      {"failed_counts_as_durable", {"durable-before-ack"}},
      {"failed_row_dropped", {"durable-before-ack"}},
      {"more_than_durable", {"durable-before-ack"}},
      {"load_forgets", {"known-after-crash"}},
      {"given_while_held", {"single-holder"}},
      {"late_ack_forgotten", {"single-holder"}},
      {"anyone_releases", {"single-holder", "promise-kept", "known-after-crash"}},
      {"wall_step_expires", {"single-holder", "promise-kept"}},
      {"declined_reused", {"probation"}},
      {"own_address_offered", {"pool"}},
      {"reboot_refused", {"promise-kept"}},
      {"other_server_ignored", {"server-id"}},
      {"relay_information_dropped", {"option-82"}},
      {"relay_port", {"reply-route"}},
      {"wrong_xid", {"reply-to-request"}},
      {"rebinds_too_late", {"reply-shape"}},
      {"scheduler_off_by_one", {"fairness"}},
      {"scheduler_starves", {"fairness"}},
      {"lost_buffer", {"conservation-buffers"}},
      {"lost_slot", {"conservation-slots"}},
      {"drop_not_counted", {"conservation-replies"}},
      {"lone_row_waits", {"conservation-mutations", "liveness"}},
      {"stop_overlooked", {"liveness"}},
      {"unseeded_choice", {"same-hash"}},
  };
  return all;
}

SimulationResult RunSeed(std::uint64_t seed) {
  return Simulation(DrawOptions(seed, kAllFaults, kMinutes), false).Run();
}

/// The name of the violated invariant; empty: none was.
std::string Violated(const Canary& canary, std::uint64_t seed) {
  const SimulationResult result = RunSeed(seed);
  if (!result.ok() || canary.invariants.front() != "same-hash") return result.invariant;
  return RunSeed(seed).trace_hash == result.trace_hash ? "" : "same-hash";
}

bool IsCaught(const Canary& canary) {
  std::uint64_t visited = 0;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    PlantCanary(canary.name);
    const std::string violated = Violated(canary, seed);
    visited += CanaryVisited() ? 1 : 0;
    if (violated.empty()) continue;
    const bool right = std::find(canary.invariants.begin(), canary.invariants.end(), violated) !=
                       canary.invariants.end();
    std::cout << absl::StrFormat("%-26s seed %3u violates %s%s\n", canary.name, seed, violated,
                                 right ? "" : ": NOT THE INVARIANT IT SHOULD BE")
              << std::flush;
    return right;
  }
  std::cout << absl::StrFormat("%-26s NOT CAUGHT in %u seeds, %u of which came past it\n",
                               canary.name, kSeedsMax, visited)
            << std::flush;
  return false;
}

int Run(const std::string& only) {
  int failures = 0;
  for (const Canary& canary : AllCanaries()) {
    if (only.empty() || only == canary.name) failures += IsCaught(canary) ? 0 : 1;
  }
  std::cout << AllCanaries().size() << " canaries, " << failures << " not caught\n";
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ringdhcp::sim

int main(int argc, char** argv) { return ringdhcp::sim::Run(argc > 1 ? argv[1] : ""); }
