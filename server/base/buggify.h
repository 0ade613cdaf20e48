#ifndef RINGDHCP_SERVER_BASE_BUGGIFY_H_
#define RINGDHCP_SERVER_BASE_BUGGIFY_H_

/// RINGDHCP_BUGGIFY(name) asks whether to take a legal but rare path now. It is the constant false
/// unless the file is compiled with RINGDHCP_SIMULATION, where the seed decides (FoundationDB's
/// idea). What it guards must be right at any time: it may only make the rare common.
#ifdef RINGDHCP_SIMULATION

namespace ringdhcp {
/// Defined by the simulation (test/sim/hooks.cc). One thread.
bool Buggify(const char* name);
}  // namespace ringdhcp

#define RINGDHCP_BUGGIFY(name) (::ringdhcp::Buggify(#name))
#else
#define RINGDHCP_BUGGIFY(name) false
#endif

#endif  // RINGDHCP_SERVER_BASE_BUGGIFY_H_
