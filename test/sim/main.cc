// ringdhcp-sim: runs the server in simulated worlds, one for each seed.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "test/sim/hooks.h"
#include "test/sim/options.h"
#include "test/sim/simulation.h"

namespace {

using ringdhcp::sim::Options;
using ringdhcp::sim::SimulationResult;

struct Arguments {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::int64_t minutes = 5;
  std::string faults = "all";
  bool trace = false;
  bool twice = false;
};

struct Totals {
  std::uint64_t runs = 0, failures = 0, arrived = 0, replies = 0, acks = 0, turns = 0, crashes = 0;
  double simulated_s = 0;
};

std::string Replay(const Arguments& arguments, std::uint64_t seed) {
  return absl::StrFormat("ringdhcp-sim --seed %u --minutes %d --faults %s", seed, arguments.minutes,
                         arguments.faults);
}

SimulationResult RunSeed(const Arguments& arguments, std::uint32_t faults, std::uint64_t seed) {
  const Options options = ringdhcp::sim::DrawOptions(seed, faults, arguments.minutes);
  const bool talk = arguments.seeds == 1;
  if (talk) std::cout << "seed " << seed << "\n" << options.Describe() << std::flush;
  const auto start = std::chrono::steady_clock::now();
  SimulationResult result = ringdhcp::sim::Simulation(options, arguments.trace).Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!result.ok()) {
    std::cout << "last events (seconds; interface; station, xid, address, [number]):\n"
              << result.last_events << "seed " << seed << "\n"
              << options.Describe() << "VIOLATED " << result.invariant << ": " << result.message
              << "\nreplay: " << Replay(arguments, seed) << "\n";
  }
  if (talk) {
    const double simulated_s = static_cast<double>(result.simulated_ns) * 1e-9;
    std::cout << absl::StrFormat(
        "trace %016x, %u events; %u datagrams arrived, %u replies, %u ACKs, %u turns, %u crashes\n"
        "simulated %.1f s (%.1f s to heal) in %.3f s: %.0f times as fast\n",
        result.trace_hash, result.events, result.arrived, result.replies, result.acks, result.turns,
        result.crashes, simulated_s, static_cast<double>(result.heal_ns) * 1e-9, took.count(),
        simulated_s / took.count());
  }
  return result;
}

void Count(const SimulationResult& result, Totals& totals) {
  ++totals.runs;
  totals.failures += result.ok() ? 0 : 1;
  totals.arrived += result.arrived;
  totals.replies += result.replies;
  totals.acks += result.acks;
  totals.turns += result.turns;
  totals.crashes += result.crashes;
  totals.simulated_s += static_cast<double>(result.simulated_ns) * 1e-9;
}

void Report(const Totals& totals, double took_s) {
  std::cout << absl::StrFormat(
      "%u seeds, %u failed; %u datagrams arrived, %u replies, %u ACKs, %u turns, %u crashes\n"
      "simulated %.1f h in %.1f s: %.0f times as fast\n",
      totals.runs, totals.failures, totals.arrived, totals.replies, totals.acks, totals.turns,
      totals.crashes, totals.simulated_s / 3600, took_s, totals.simulated_s / took_s);
  // Guards and paths that need what no world here has: a client with two running leases in one
  // network, which only a store that was edited by hand can say; and a reply to be held while the
  // gate is full, although no packet is taken then.
  static constexpr std::string_view kUnreachable[] = {
      "client_takes_a_second_lease", "offer_ends_with_another_address_taken",
      "second_lease_expires", "second_lease_released", "no_room_to_hold_a_reply"};
  std::string never;
  std::size_t probes = 0;
  for (const auto& [name, reached] : ringdhcp::sim::Probes()) {
    ++probes;
    const bool unreachable = std::ranges::count(kUnreachable, name) > 0;
    if (reached == 0 && !unreachable) never += " " + name;
    if (reached > 0 && unreachable) std::cout << name << " was reached: it is not unreachable\n";
  }
  std::cout << probes << " probes, " << std::size(kUnreachable)
            << " of them unreachable here; never reached:" << (never.empty() ? " none" : never)
            << "\n";
}

int Run(const Arguments& arguments) {
  const auto faults = ringdhcp::sim::ParseFaults(arguments.faults);
  if (!faults) {
    std::cerr << "unknown fault in " << arguments.faults
              << "; there are: " << ringdhcp::sim::FaultNames(ringdhcp::sim::kAllFaults - 1)
              << "\n";
    return 2;
  }
  Totals totals;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t seed = arguments.seed; seed < arguments.seed + arguments.seeds; ++seed) {
    const SimulationResult result = RunSeed(arguments, *faults, seed);
    Count(result, totals);
    if (arguments.twice && result.ok()) {
      const SimulationResult again = RunSeed(arguments, *faults, seed);
      if (again.trace_hash != result.trace_hash) {
        std::cout << "VIOLATED same-hash: seed " << seed << " gave another trace the second time\n";
        ++totals.failures;
      }
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (arguments.seeds > 1) Report(totals, took.count());
  return totals.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs the server in simulated worlds, one for each seed.", "ringdhcp-sim");
  app.add_option("--seed", arguments.seed, "the first seed")->capture_default_str();
  app.add_option("--seeds", arguments.seeds, "how many seeds, one after the other")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--minutes", arguments.minutes, "simulated time with faults")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--faults", arguments.faults, "what may go wrong: none, all, or names with commas")
      ->capture_default_str();
  app.add_flag("--trace", arguments.trace, "print every event");
  app.add_flag("--twice", arguments.twice, "run each seed twice and compare the traces");
  CLI11_PARSE(app, argc, argv);
  return Run(arguments);
}
