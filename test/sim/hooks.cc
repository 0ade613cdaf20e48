#include "test/sim/hooks.h"

#include <map>

#include "server/base/buggify.h"
#include "server/base/canary.h"
#include "server/base/probe.h"
#include "test/sim/random.h"

namespace ringdhcp {
namespace {

struct BuggifyState {
  sim::Random random{0, 0};
  std::uint32_t chance_ppm = 0;
};

BuggifyState& TheBuggify() {
  static BuggifyState state;
  return state;
}

struct CanaryState {
  std::string planted;
  bool visited = false;
};

CanaryState& TheCanary() {
  static CanaryState state;
  return state;
}

std::vector<ProbeCounter*>& TheProbes() {
  static std::vector<ProbeCounter*> probes;
  return probes;
}

}  // namespace

bool Buggify(const char* name) {
  static_cast<void>(name);
  BuggifyState& state = TheBuggify();
  return state.chance_ppm != 0 && state.random.PerMillion(state.chance_ppm);
}

ProbeCounter::ProbeCounter(const char* probe_name) : name(probe_name) {
  TheProbes().push_back(this);
}

#ifdef RINGDHCP_PLANT_BUGS
bool CanaryPlanted(const char* name) {
  CanaryState& state = TheCanary();
  if (state.planted != name) return false;
  state.visited = true;
  // A choice that the seed does not decide: it goes on counting from run to run.
  static std::uint64_t asked = 0;
  if (state.planted == "unseeded_choice") return ++asked % 7 == 0;
  return true;
}
#endif

namespace sim {

void StartBuggify(std::uint64_t seed, std::uint32_t chance_ppm) {
  TheBuggify() = {Random(seed, 77), chance_ppm};
}

void PlantCanary(const std::string& name) { TheCanary() = {name, false}; }

bool CanaryVisited() { return TheCanary().visited; }

std::vector<std::pair<std::string, std::uint64_t>> Probes() {
  std::map<std::string, std::uint64_t> sorted;
  for (const ProbeCounter* probe : TheProbes()) sorted[probe->name] += probe->reached;
  return {sorted.begin(), sorted.end()};
}

}  // namespace sim
}  // namespace ringdhcp
