#include "test/sim/options.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "test/sim/random.h"

namespace ringdhcp::sim {
namespace {

constexpr std::string_view kFaultNames[] = {
    "loss",  "duplicate", "reorder",    "burst",        "clog",          "link",
    "send",  "ring",      "store-slow", "store-refuse", "store-unknown", "store-hang",
    "crash", "restart",   "wall",       "rogues",       "roaming",       "buggify"};
static_assert((std::uint32_t{1} << std::size(kFaultNames)) - 1 == kAllFaults);

constexpr std::int64_t kSecond = kNanosecondsPerSecond;
constexpr std::int64_t kMillisecond = kNanosecondsPerMillisecond;

std::uint32_t DrawFaults(Random& random, std::uint32_t allowed) {
  std::uint32_t faults = 0;
  // Some seeds have all that is allowed, most about two thirds.
  const bool everything = random.OneIn(6);
  for (std::size_t i = 0; i < std::size(kFaultNames); ++i) {
    if (everything || !random.OneIn(3)) faults |= std::uint32_t{1} << i;
  }
  faults &= allowed;
  // After a restart what is left of a lease is counted by the wall clock: no promise can be kept
  // across a crash by a clock that jumps.
  if ((faults & kWall) != 0 && (faults & (kCrash | kRestart)) != 0) {
    faults &= random.OneIn(2) ? ~std::uint32_t{kWall} : ~std::uint32_t{kCrash | kRestart};
  }
  return faults;
}

void DrawLimits(Random& random, Options& options) {
  Limits& limits = options.limits;
  limits.interfaces_max = options.interfaces + (random.OneIn(2) ? 1U : 0U);
  limits.receive_buffers = std::size_t{8} << random.Number(0, 4);
  limits.batch_packets_max = random.Number(1, 64);
  limits.quantum_packets = random.Number(1, 8);
  limits.completions_max = random.OneIn(3) ? random.Number(1, 16) : 1024;
  limits.egress_queue_max = limits.batch_packets_max + random.Number(1, 128);
  limits.egress_in_flight_max = random.Number(1, 128);
  limits.held_replies_max = random.OneIn(3) ? random.Number(1, 64) : 1024;
  limits.commit_rows_max = limits.batch_packets_max + random.Number(0, 512);
  limits.expiries_max = random.OneIn(3) ? random.Number(1, 8) : 256;
}

void DrawTimes(Random& random, Options& options, LeaseTimes& times) {
  times.min_s = random.Number(20, 60);
  times.default_s = times.min_s + random.Number(0, 240);
  times.max_s = times.default_s + random.Number(0, 240);
  options.config.offer_hold_s = random.Number(5, 60);
  options.config.decline_probation_s = random.Number(30, 400);
  options.config.cache_threshold = random.OneIn(3) ? 0 : random.Number(0, 50) * 0.01;
  options.config.stale_after_ms = random.Number(500, 4000);
}

void AddSubnet(Random& random, Options& options, Domain domain, std::uint32_t network,
               const LeaseTimes& times) {
  Subnet subnet;
  subnet.id = SubnetId(network + 1);
  subnet.prefix = {Ipv4Address(0x0A000000U | network << 16), 19};
  // Room for all who will be here in the end, and hardly more: addresses must change hands.
  std::uint32_t room = domain.clients + options.movers + random.Number(0, 8);
  if (random.OneIn(4)) room += domain.clients;
  // The server's own address is the first of the network: pools may contain it, and the ends.
  const std::uint32_t base = subnet.prefix.address.value;
  // A relay's address is unknown to the server: no operator puts it into a pool.
  const bool whole = domain.relay.IsZero() && random.OneIn(3);
  const std::uint32_t first = base + (whole ? 0 : random.Number(2, 200));
  const std::uint32_t gap = random.OneIn(3) ? room / 2 : 0;
  if (first <= base + 1) room += 2;
  if (gap > 0) {
    subnet.pools.push_back({Ipv4Address(first), Ipv4Address(first + gap - 1)});
    subnet.pools.push_back({Ipv4Address(first + gap + 5), Ipv4Address(first + room + 5)});
  } else {
    subnet.pools.push_back({Ipv4Address(first), Ipv4Address(first + room)});
  }
  subnet.lease_times = times;
  subnet.authoritative = random.OneIn(2);
  const std::uint8_t router[] = {10, static_cast<std::uint8_t>(network), 0, 1};
  subnet.options.push_back({3, {std::begin(router), std::end(router)}});
  domain.subnet = static_cast<std::uint32_t>(options.config.subnets.size());
  options.config.subnets.push_back(std::move(subnet));
  options.domains.push_back(domain);
}

void DrawNetwork(Random& random, Options& options) {
  options.interfaces = random.Number(2, 5);
  const bool crowd = random.OneIn(12);
  options.movers = options.Has(kRoaming) ? random.Number(0, 5) : 0;
  LeaseTimes times;
  DrawTimes(random, options, times);
  const auto clients = [&] {
    return crowd ? random.Number(200, 700) : random.Number(2, random.OneIn(4) ? 120 : 30);
  };
  for (std::uint32_t i = 0; i < options.interfaces; ++i) {
    const std::uint32_t here = clients();
    AddSubnet(random, options, {static_cast<std::uint16_t>(i), {}, ServerOf(i), 0, here}, i, times);
  }
  const std::uint32_t relays = random.Number(0, 2);
  for (std::uint32_t i = 0; i < relays; ++i) {
    const auto on = static_cast<std::uint16_t>(random.Number(0, options.interfaces - 1));
    const std::uint32_t network = 64 + i;
    const Ipv4Address giaddr(0x0A000001U | network << 16);
    const std::uint32_t here = clients();
    AddSubnet(random, options, {on, giaddr, ServerOf(on), 0, here}, network, times);
  }
  for (const Domain& domain : options.domains) options.clients += domain.clients;
}

}  // namespace

std::optional<std::uint32_t> ParseFaults(std::string_view text) {
  if (text == "none") return 0;
  if (text == "all") return kAllFaults;
  std::uint32_t faults = 0;
  const std::vector<std::string> names = absl::StrSplit(std::string(text), ',');
  for (const std::string& name : names) {
    const auto found = std::find(std::begin(kFaultNames), std::end(kFaultNames), name);
    if (found == std::end(kFaultNames)) return std::nullopt;
    faults |= std::uint32_t{1} << (found - std::begin(kFaultNames));
  }
  return faults;
}

std::string FaultNames(std::uint32_t faults) {
  if (faults == 0) return "none";
  if (faults == kAllFaults) return "all";
  std::string names;
  for (std::size_t i = 0; i < std::size(kFaultNames); ++i) {
    if ((faults >> i & 1) == 0) continue;
    if (!names.empty()) names += ",";
    names += kFaultNames[i];
  }
  return names;
}

Options DrawOptions(std::uint64_t seed, std::uint32_t allowed, std::int64_t minutes) {
  Random random(seed, 1);
  Options options;
  options.seed = seed;
  options.fault_phase_ns = minutes * 60 * kSecond;
  options.faults = DrawFaults(random, allowed);
  DrawNetwork(random, options);
  DrawLimits(random, options);
  const bool volatile_promises = random.OneIn(8) && !options.Has(kCrash) && !options.Has(kRestart);
  if (volatile_promises) options.config.durability = Durability::kRelaxed;

  options.turn_cost_ns = random.Between(5, 100) * 1000;
  options.packet_cost_ns = random.OneIn(3) ? random.Between(200, 2000) * 1000 : 5000;
  options.loss_ppm = options.Has(kLoss) ? random.Number(1000, 200'000) : 0;
  options.duplicate_ppm = options.Has(kDuplicate) ? random.Number(1000, 100'000) : 0;
  options.reorder_ppm = options.Has(kReorder) ? random.Number(1000, 200'000) : 0;
  options.delay_max_ns = random.Between(100, 5000) * 1000;
  options.send_error_ppm = options.Has(kSendErrors) ? random.Number(1000, 200'000) : 0;
  options.store_latency_ns = random.Between(50, 3000) * 1000;
  if (options.Has(kStoreSlow)) options.store_latency_ns = random.Between(5, 400) * kMillisecond;
  options.store_refuse_ppm = options.Has(kStoreRefuses) ? random.Number(1000, 100'000) : 0;
  options.store_unknown_ppm = options.Has(kStoreUnknown) ? random.Number(1000, 100'000) : 0;
  options.store_hang_ppm = options.Has(kStoreHangs) ? random.Number(200, 20'000) : 0;
  options.crash_every_ns = random.Between(20, 120) * kSecond;
  options.link_every_ns = random.Between(15, 90) * kSecond;
  options.clog_every_ns = random.Between(15, 90) * kSecond;
  options.burst_every_ns = random.Between(10, 60) * kSecond;
  options.drift_ppm = static_cast<std::int32_t>(random.Between(-200, 200));
  if (!options.Has(kWall)) options.drift_ppm = 0;
  options.rogues = options.Has(kRogues) ? random.Number(1, 8) : 0;
  options.flood_rate_max = random.OneIn(4) ? 4000 : 400;
  const LeaseTimes& times = options.config.subnets.front().lease_times;
  options.heal_max_ns = (std::int64_t{times.max_s} + options.config.decline_probation_s +
                         options.config.offer_hold_s + 240) *
                        kSecond;
  return options;
}

std::string Options::Describe() const {
  std::string text = absl::StrFormat(
      "interfaces %u, subnets %u, clients %u (%u may move), rogues %u, faults %s\n", interfaces,
      config.subnets.size(), clients, movers, rogues, FaultNames(faults));
  const LeaseTimes& times = config.subnets.front().lease_times;
  absl::StrAppendFormat(
      &text, "lease %u/%u/%u s, offer hold %u s, probation %u s, cache %.2f, durability %s\n",
      times.min_s, times.default_s, times.max_s, config.offer_hold_s, config.decline_probation_s,
      config.cache_threshold, config.durability == Durability::kLocal ? "local" : "relaxed");
  absl::StrAppendFormat(
      &text, "buffers %u, batch %u, quantum %u, held %u, egress %u/%u, packet %d us, store %d us\n",
      limits.receive_buffers, limits.batch_packets_max, limits.quantum_packets,
      limits.held_replies_max, limits.egress_queue_max, limits.egress_in_flight_max,
      packet_cost_ns / 1000, store_latency_ns / 1000);
  absl::StrAppendFormat(&text, "per million: loss %u, duplicate %u, reorder %u, send errors %u",
                        loss_ppm, duplicate_ppm, reorder_ppm, send_error_ppm);
  absl::StrAppendFormat(&text, ", store refuses %u, unknown %u, hangs %u\n", store_refuse_ppm,
                        store_unknown_ppm, store_hang_ppm);
  return text;
}

}  // namespace ringdhcp::sim
