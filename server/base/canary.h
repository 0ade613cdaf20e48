#ifndef RINGDHCP_SERVER_BASE_CANARY_H_
#define RINGDHCP_SERVER_BASE_CANARY_H_

/// RINGDHCP_CANARY(name) stands where a bug is planted on purpose, to prove that the simulation
/// catches it. It is the constant false unless the file is compiled with RINGDHCP_PLANT_BUGS, which
/// only the canary test does.
#ifdef RINGDHCP_PLANT_BUGS

namespace ringdhcp {
/// Whether the bug of this name is planted in this run (test/sim/hooks.cc). One thread.
bool CanaryPlanted(const char* name);
}  // namespace ringdhcp

#define RINGDHCP_CANARY(name) (::ringdhcp::CanaryPlanted(#name))
#else
#define RINGDHCP_CANARY(name) false
#endif

#endif  // RINGDHCP_SERVER_BASE_CANARY_H_
