// Subnets and their pools, each by itself and against the others.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "server/config/network_values.h"
#include "server/config/suggest.h"
#include "server/config/validate.h"

namespace ringdhcp {

namespace {

constexpr std::uint32_t kSubnetIdMax = 4294967294U;

std::string SubnetPath(std::size_t index) { return "subnets[" + std::to_string(index) + ']'; }

// "subnets[0] (line 7)"
std::string Named(std::size_t index, const FieldPlaces& places) {
  const std::string path = SubnetPath(index);
  return path + " (line " + std::to_string(places.At(path).line) + ')';
}

class SubnetsBuilder {
 public:
  SubnetsBuilder(const config::Config& file, const FieldPlaces& places, Report& report)
      : file_(file), places_(places), report_(report) {}

  std::vector<Subnet> Build() {
    server_options_ = BuildOptions(file_.options(), "options", OptionBlock(), places_, report_);
    server_times_ = BuildLeaseTimes(file_.lease_times(), "lease_times", LeaseTimes(), "by default",
                                    places_, report_);
    server_identifier_ =
        BuildServerIdentifier(file_.has_server_identifier(), file_.server_identifier(),
                              "server_identifier", places_, report_);
    CollectIds();
    subnets_.reserve(static_cast<std::size_t>(file_.subnets_size()));
    for (int i = 0; i < file_.subnets_size(); ++i) {
      BuildOne(static_cast<std::size_t>(i), file_.subnets(i));
    }
    if (file_.subnets_size() == 0 && !places_.IsBad("subnets")) {
      report_.Warning(places_.At("subnets"), "subnets", "no subnet: no client gets an address");
    }
    CheckPrefixesDisjoint();
    std::sort(subnets_.begin(), subnets_.end(),
              [](const Subnet& a, const Subnet& b) { return a.prefix < b.prefix; });
    return std::move(subnets_);
  }

 private:
  void CollectIds() {
    for (const config::Subnet& subnet : file_.subnets()) {
      if (subnet.has_id()) ids_.insert(subnet.id());
    }
  }

  // An id that no subnet has, for a suggestion; each is given once.
  std::string FreeId() {
    while (ids_.contains(next_free_id_)) ++next_free_id_;
    return std::to_string(next_free_id_++);
  }

  void BuildOne(std::size_t index, const config::Subnet& written) {
    const std::string path = SubnetPath(index);
    // An item that isn't a map is reported as a whole; its fields aren't missing as well.
    if (places_.IsBad(path)) {
      prefix_good_.push_back(false);
      subnets_.emplace_back();
      return;
    }
    Subnet subnet;
    BuildId(index, written, path, subnet);
    const bool prefix_good = BuildPrefix(written, path, subnet);
    pools_ =
        BuildPools(written.pools(), path, prefix_good ? &subnet.prefix : nullptr, places_, report_);
    for (const PlacedPool& placed : pools_) subnet.pools.push_back(placed.pool);
    const OptionBlock options =
        BuildOptions(written.options(), path + ".options", server_options_, places_, report_);
    subnet.options = options.options;
    subnet.lease_times = BuildLeaseTimes(written.lease_times(), path + ".lease_times",
                                         server_times_, "server-wide", places_, report_);
    subnet.authoritative =
        written.has_authoritative() ? written.authoritative() : file_.authoritative();
    subnet.server_identifier =
        BuildServerIdentifier(written.has_server_identifier(), written.server_identifier(),
                              path + ".server_identifier", places_, report_);
    if (!subnet.server_identifier) subnet.server_identifier = server_identifier_;
    BuildInterface(written, path, subnet);
    if (prefix_good) CheckAddressesInUse(options, path, subnet);
    prefix_good_.push_back(prefix_good);
    subnets_.push_back(std::move(subnet));
  }

  void BuildId(std::size_t index, const config::Subnet& written, const std::string& subnet_path,
               Subnet& subnet) {
    const std::string path = subnet_path + ".id";
    if (!written.has_id()) {
      if (!places_.Has(path)) {
        report_.Error(places_.At(subnet_path), path, "is missing", "write id: " + FreeId());
      }
      return;
    }
    if (!CheckRange(written.id(), 1, kSubnetIdMax, "", path, places_, report_)) return;
    const auto [first, is_new] = first_with_id_.emplace(written.id(), index);
    if (!is_new) {
      report_.Error(places_.At(path), path,
                    std::to_string(written.id()) + " is the id of " +
                        Named(first->second, places_) + " already",
                    "did you mean " + FreeId() + '?');
    }
    subnet.id = SubnetId(written.id());
  }

  bool BuildPrefix(const config::Subnet& written, const std::string& subnet_path, Subnet& subnet) {
    const std::string path = subnet_path + ".prefix";
    if (!written.has_prefix()) {
      if (!places_.Has(path)) {
        report_.Error(places_.At(subnet_path), path, "is missing",
                      "write the network, for example prefix: 192.0.2.0/24");
      }
      return false;
    }
    if (places_.IsBad(path)) return false;
    if (auto error = ReadSubnetPrefix(written.prefix(), &subnet.prefix)) {
      report_.Error(places_.At(path), path, error->message, error->suggestion);
      return false;
    }
    return true;
  }

  void BuildInterface(const config::Subnet& written, const std::string& subnet_path,
                      Subnet& subnet) {
    const std::string path = subnet_path + ".interface";
    if (!written.has_interface() || places_.IsBad(path)) return;
    if (auto error = CheckInterfaceName(written.interface(), /*pattern=*/false)) {
      report_.Error(places_.At(path), path, error->message, error->suggestion);
      return;
    }
    subnet.interface = written.interface();
  }

  // Warns of addresses that are in use and would be leased, and of routers out of reach.
  void CheckAddressesInUse(const OptionBlock& options, const std::string& subnet_path,
                           const Subnet& subnet) {
    for (const PlacedAddress& router : options.routers) {
      WarnIfInPool(router.address, "the router");
      if (!subnet.prefix.Contains(router.address)) {
        const bool own = router.path.starts_with(subnet_path + '.');
        report_.Warning(
            places_.At(own ? router.path : subnet_path), own ? router.path : subnet_path,
            "the router " + router.address.ToString() + (own ? "" : " of " + router.path) +
                " is not inside " + subnet.prefix.ToString(),
            own ? "" : "give this subnet its own options.routers");
      }
    }
    for (const PlacedAddress& server : options.servers) {
      WarnIfInPool(server.address, "the server");
    }
    if (subnet.server_identifier) {
      WarnIfInPool(*subnet.server_identifier, "the server identifier");
    }
  }

  void WarnIfInPool(Ipv4Address address, const char* what) {
    for (const PlacedPool& placed : pools_) {
      if (!placed.pool.Contains(address)) continue;
      report_.Warning(places_.At(placed.path), placed.path,
                      PoolToString(placed.pool) + " holds " + what + ' ' + address.ToString(),
                      SuggestWithout(placed.pool, address));
    }
  }

  static std::string SuggestWithout(const Pool& pool, Ipv4Address address) {
    if (pool.first == pool.last) return "delete it";
    const Pool below{pool.first, Ipv4Address(address.value - 1)};
    const Pool above{Ipv4Address(address.value + 1), pool.last};
    if (address == pool.first) return "did you mean " + PoolToString(above) + '?';
    if (address == pool.last) return "did you mean " + PoolToString(below) + '?';
    return "did you mean " + PoolToString(below) + " and " + PoolToString(above) + '?';
  }

  // Two prefixes are nested or disjoint, so that in order of address, shorter first, a prefix
  // overlaps an earlier one exactly if it begins within the one that reaches furthest.
  void CheckPrefixesDisjoint() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < subnets_.size(); ++i) {
      if (prefix_good_[i]) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(subnets_[a].prefix, a) < std::pair(subnets_[b].prefix, b);
    });
    for (std::size_t i = 1, outer = 0; i < order.size(); ++i) {
      if (subnets_[order[outer]].prefix.Overlaps(subnets_[order[i]].prefix)) {
        ReportPrefixOverlap(order[outer], order[i]);
      } else {
        outer = i;
      }
    }
  }

  void ReportPrefixOverlap(std::size_t a, std::size_t b) {
    const std::size_t later = std::max(a, b), earlier = std::min(a, b);
    const std::string path = SubnetPath(later) + ".prefix";
    const Ipv4Prefix& own = subnets_[later].prefix;
    const Ipv4Prefix& other = subnets_[earlier].prefix;
    report_.Error(
        places_.At(path), path,
        own.ToString() +
            (own == other ? " is the prefix of " : " overlaps " + other.ToString() + " of ") +
            Named(earlier, places_) + (own == other ? " already" : ""),
        own == other ? "put the pools of both into one subnet" : "");
  }

  const config::Config& file_;
  const FieldPlaces& places_;
  Report& report_;
  OptionBlock server_options_;
  LeaseTimes server_times_;
  std::optional<Ipv4Address> server_identifier_;
  std::set<std::uint32_t> ids_;
  std::uint32_t next_free_id_ = 1;
  std::map<std::uint32_t, std::size_t> first_with_id_;
  std::vector<PlacedPool> pools_;  // of the subnet being built
  std::vector<Subnet> subnets_;    // in file order until the end
  std::vector<bool> prefix_good_;  // by index in the file
};

}  // namespace

std::vector<Subnet> BuildSubnets(const config::Config& file, const FieldPlaces& places,
                                 Report& report) {
  return SubnetsBuilder(file, places, report).Build();
}

}  // namespace ringdhcp
