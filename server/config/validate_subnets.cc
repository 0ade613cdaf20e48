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

struct PlacedPool {
  Pool pool;
  std::string path;
};

class SubnetsBuilder {
 public:
  SubnetsBuilder(const config::Config& file, const FieldPlaces& places, Report& report)
      : file_(file), places_(places), report_(report) {}

  std::vector<Subnet> Build() {
    server_options_ = BuildOptions(file_.options(), "options", OptionBlock(), places_, report_);
    server_times_ = BuildLeaseTimes(file_.lease_times(), "lease_times", LeaseTimes(), "the default",
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
    BuildPools(written, path, prefix_good, subnet);
    const OptionBlock options =
        BuildOptions(written.options(), path + ".options", server_options_, places_, report_);
    subnet.options = options.options;
    subnet.lease_times = BuildLeaseTimes(written.lease_times(), path + ".lease_times",
                                         server_times_, "the server-wide value", places_, report_);
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

  void BuildPools(const config::Subnet& written, const std::string& subnet_path, bool prefix_good,
                  Subnet& subnet) {
    const std::string list_path = subnet_path + ".pools";
    if (written.pools_size() == 0 && !places_.IsBad(list_path)) {
      const bool has = places_.Has(list_path);
      report_.Warning(places_.At(has ? list_path : subnet_path), list_path,
                      "no pool: no client of this subnet gets an address");
    }
    std::vector<PlacedPool> pools;
    for (int i = 0; i < written.pools_size(); ++i) {
      const std::string path = list_path + '[' + std::to_string(i) + ']';
      if (places_.IsBad(path)) continue;
      Pool pool;
      auto error = ReadPool(written.pools(i), &pool);
      if (!error && prefix_good) error = CheckPoolInPrefix(pool, subnet.prefix);
      if (error) {
        report_.Error(places_.At(path), path, error->message, error->suggestion);
      } else {
        pools.push_back({pool, path});
      }
    }
    // By the first address, and of equal ones in the order of the file.
    std::stable_sort(pools.begin(), pools.end(), [](const PlacedPool& a, const PlacedPool& b) {
      return a.pool.first < b.pool.first;
    });
    CheckPoolsDisjoint(pools);
    for (const PlacedPool& placed : pools) subnet.pools.push_back(placed.pool);
  }

  // `pools` ascends by the first address. Each is compared with the one that reaches furthest so
  // far, which overlaps it if any does.
  void CheckPoolsDisjoint(const std::vector<PlacedPool>& pools) {
    for (std::size_t i = 1, furthest = 0; i < pools.size(); ++i) {
      const PlacedPool& reach = pools[furthest];
      if (pools[i].pool.first <= reach.pool.last) ReportPoolOverlap(reach, pools[i]);
      if (pools[i].pool.last > reach.pool.last) furthest = i;
    }
  }

  // `low` begins first. Reported at the one that is later in the file.
  void ReportPoolOverlap(const PlacedPool& low, const PlacedPool& high) {
    const FilePosition low_at = places_.At(low.path), high_at = places_.At(high.path);
    const bool low_is_later =
        std::pair(low_at.line, low_at.column) > std::pair(high_at.line, high_at.column);
    const PlacedPool& later = low_is_later ? low : high;
    const PlacedPool& earlier = low_is_later ? high : low;
    std::string suggestion = "delete it";
    if (low_is_later && later.pool.first < earlier.pool.first) {
      const Ipv4Address last(earlier.pool.first.value - 1);
      suggestion = "did you mean " + PoolToString({later.pool.first, last}) + '?';
    } else if (!low_is_later && later.pool.last > earlier.pool.last) {
      const Ipv4Address first(earlier.pool.last.value + 1);
      suggestion = "did you mean " + PoolToString({first, later.pool.last}) + '?';
    }
    const FilePosition at = places_.At(later.path);
    report_.Error(at, later.path,
                  PoolToString(later.pool) + " overlaps " + PoolToString(earlier.pool) + " (line " +
                      std::to_string(places_.At(earlier.path).line) + ')',
                  std::move(suggestion));
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
      WarnIfInPool(router.address, "the router", subnet_path, subnet);
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
      WarnIfInPool(server.address, "the server", subnet_path, subnet);
    }
    if (subnet.server_identifier) {
      WarnIfInPool(*subnet.server_identifier, "the server identifier", subnet_path, subnet);
    }
  }

  void WarnIfInPool(Ipv4Address address, const char* what, const std::string& subnet_path,
                    const Subnet& subnet) {
    for (const Pool& pool : subnet.pools) {
      if (!pool.Contains(address)) continue;
      const std::string path = PathOfPool(pool, subnet_path);
      report_.Warning(places_.At(path), path,
                      PoolToString(pool) + " holds " + what + ' ' + address.ToString(),
                      SuggestWithout(pool, address));
    }
  }

  // Pools are sorted by now; the file is not.
  std::string PathOfPool(const Pool& pool, const std::string& subnet_path) const {
    const std::string list_path = subnet_path + ".pools";
    const std::size_t index = subnets_.size();
    const auto& texts = file_.subnets(static_cast<int>(index)).pools();
    for (int i = 0; i < texts.size(); ++i) {
      Pool read;
      if (!ReadPool(texts[i], &read) && read == pool) {
        return list_path + '[' + std::to_string(i) + ']';
      }
    }
    return list_path;
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
  std::vector<Subnet> subnets_;    // in file order until the end
  std::vector<bool> prefix_good_;  // by index in the file
};

}  // namespace

std::vector<Subnet> BuildSubnets(const config::Config& file, const FieldPlaces& places,
                                 Report& report) {
  return SubnetsBuilder(file, places, report).Build();
}

}  // namespace ringdhcp
