#ifndef RINGDHCP_SERVER_BASE_PROBE_H_
#define RINGDHCP_SERVER_BASE_PROBE_H_

/// RINGDHCP_PROBE(name) marks a rare path that the simulation has to reach. Nothing at all unless
/// the file is compiled with RINGDHCP_SIMULATION; there every probe is known from program start,
/// reached or not.
#ifdef RINGDHCP_SIMULATION

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ringdhcp {

template <std::size_t kSize>
struct ProbeName {
  char text[kSize];
  constexpr ProbeName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

/// Registers itself for the report of the simulation (test/sim/hooks.cc). One thread.
struct ProbeCounter {
  explicit ProbeCounter(const char* probe_name);
  const char* name;
  std::uint64_t reached = 0;
};

template <ProbeName kName>
struct Probe {
  static inline ProbeCounter counter{kName.text};
};

}  // namespace ringdhcp

#define RINGDHCP_PROBE(name) (++::ringdhcp::Probe<#name>::counter.reached)
#else
#define RINGDHCP_PROBE(name) static_cast<void>(0)
#endif

#endif  // RINGDHCP_SERVER_BASE_PROBE_H_
