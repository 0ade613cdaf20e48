#ifndef RINGDHCP_TEST_SIM_HOOKS_H_
#define RINGDHCP_TEST_SIM_HOOKS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ringdhcp::sim {

/// The simulation's side of server/base/{buggify,probe,canary}.h. One run at a time.

/// From now on each point is on with this chance, by `seed`; 0: none is.
void StartBuggify(std::uint64_t seed, std::uint32_t chance_ppm);
/// Only this bug is planted from now on; empty: none.
void PlantCanary(const std::string& name);
/// Whether the code came past the planted bug since it was planted.
bool CanaryVisited();
/// All probes with how often they were reached since the program started, by name.
std::vector<std::pair<std::string, std::uint64_t>> Probes();

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_HOOKS_H_
