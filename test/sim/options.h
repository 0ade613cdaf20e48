#ifndef RINGDHCP_TEST_SIM_OPTIONS_H_
#define RINGDHCP_TEST_SIM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/server_config.h"
#include "server/shard/limits.h"

namespace ringdhcp::sim {

/// What may go wrong, one bit each.
enum Fault : std::uint32_t {
  kLoss = 1U << 0,
  kDuplicate = 1U << 1,
  kReorder = 1U << 2,
  kBurst = 1U << 3,  // datagrams wait in a switch and come all at once
  kClog = 1U << 4,   // the device of an interface takes sends and doesn't finish them
  kLink = 1U << 5,   // an interface goes and comes
  kSendErrors = 1U << 6,
  kRing = 1U << 7,  // datagrams of length zero and too long ones; receives that end with errors
  kStoreSlow = 1U << 8,
  kStoreRefuses = 1U << 9,   // fails before anything is stored
  kStoreUnknown = 1U << 10,  // an unknown outcome, stored or not
  kStoreHangs = 1U << 11,
  kCrash = 1U << 12,
  kRestart = 1U << 13,  // stops in an orderly way and starts again
  kWall = 1U << 14,     // the wall clock steps and drifts
  kRogues = 1U << 15,
  kRoaming = 1U << 16,  // clients release, decline, reboot, move, vanish
  kBuggify = 1U << 17,
  kAllFaults = (1U << 18) - 1,
};

/// "none", "all", or names with commas between them; nullopt: no such fault.
std::optional<std::uint32_t> ParseFaults(std::string_view text);
std::string FaultNames(std::uint32_t faults);

/// A broadcast domain with clients: the link of an interface, or one behind a relay on it.
struct Domain {
  std::uint16_t interface = 0;
  Ipv4Address relay;         // giaddr; zero: directly attached
  Ipv4Address server;        // option 54 that is due here
  std::uint32_t subnet = 0;  // index into ServerConfig::subnets
  std::uint32_t clients = 0;
};

/// Everything that a seed decides before the start.
struct Options {
  std::uint64_t seed = 0;
  std::uint32_t faults = 0;  // of the allowed ones, those that were drawn
  std::int64_t fault_phase_ns = 0;
  std::uint32_t interfaces = 2;
  std::vector<Domain> domains;
  ServerConfig config;
  Limits limits;
  std::uint32_t clients = 0;
  std::uint32_t movers = 0;
  std::int64_t turn_cost_ns = 0;
  std::int64_t packet_cost_ns = 0;
  std::uint32_t loss_ppm = 0, duplicate_ppm = 0, reorder_ppm = 0, send_error_ppm = 0;
  std::int64_t delay_max_ns = 0;
  std::int64_t store_latency_ns = 0;
  std::uint32_t store_refuse_ppm = 0, store_unknown_ppm = 0, store_hang_ppm = 0;
  std::int64_t crash_every_ns = 0, link_every_ns = 0, clog_every_ns = 0, burst_every_ns = 0;
  std::int32_t drift_ppm = 0;
  std::uint32_t rogues = 0;
  std::uint32_t flood_rate_max = 0;  // packets a second
  /// After the faults every well-behaved client must be bound within this time.
  std::int64_t heal_max_ns = 0;

  bool Has(Fault fault) const { return (faults & fault) != 0; }
  std::string Describe() const;
};

/// `allowed`: faults that may be drawn.
Options DrawOptions(std::uint64_t seed, std::uint32_t allowed, std::int64_t minutes);

inline Ipv4Address ServerOf(std::uint32_t interface) {
  return Ipv4Address(0x0A000001U | interface << 16);
}

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_OPTIONS_H_
