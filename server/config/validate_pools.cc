// The pools of one subnet.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "server/config/network_values.h"
#include "server/config/validate.h"

namespace ringdhcp {

namespace {

// `low` begins first, or at the same address. Reported at the one that is later in the file.
void ReportOverlap(const PlacedPool& low, const PlacedPool& high, const FieldPlaces& places,
                   Report& report) {
  const FilePosition low_at = places.At(low.path), high_at = places.At(high.path);
  const bool low_is_later =
      std::pair(low_at.line, low_at.column) > std::pair(high_at.line, high_at.column);
  const PlacedPool& later = low_is_later ? low : high;
  const PlacedPool& earlier = low_is_later ? high : low;
  const bool before = later.pool.first < earlier.pool.first;
  const bool behind = later.pool.last > earlier.pool.last;
  const Pool below{later.pool.first, Ipv4Address(earlier.pool.first.value - 1)};
  const Pool above{Ipv4Address(earlier.pool.last.value + 1), later.pool.last};
  std::string suggestion = "delete it";
  if (before && behind) {
    suggestion = "delete the other one";
  } else if (before || behind) {
    suggestion = "did you mean " + PoolToString(before ? below : above) + '?';
  }
  report.Error(places.At(later.path), later.path,
               PoolToString(later.pool) + " overlaps " + PoolToString(earlier.pool) + " (line " +
                   std::to_string(places.At(earlier.path).line) + ')',
               std::move(suggestion));
}

// `pools` ascends by the first address. Each is compared with the one that reaches furthest so
// far, which overlaps it if any does.
void CheckDisjoint(const std::vector<PlacedPool>& pools, const FieldPlaces& places,
                   Report& report) {
  for (std::size_t i = 1, furthest = 0; i < pools.size(); ++i) {
    const PlacedPool& reach = pools[furthest];
    if (pools[i].pool.first <= reach.pool.last) ReportOverlap(reach, pools[i], places, report);
    if (pools[i].pool.last > reach.pool.last) furthest = i;
  }
}

}  // namespace

std::vector<PlacedPool> BuildPools(const google::protobuf::RepeatedPtrField<std::string>& texts,
                                   const std::string& subnet_path, const Ipv4Prefix* prefix,
                                   const FieldPlaces& places, Report& report) {
  const std::string list_path = subnet_path + ".pools";
  if (texts.empty() && !places.IsBad(list_path)) {
    const bool has = places.Has(list_path);
    report.Warning(places.At(has ? list_path : subnet_path), list_path,
                   "no pool: no client of this subnet gets an address");
  }
  std::vector<PlacedPool> pools;
  for (int i = 0; i < texts.size(); ++i) {
    const std::string path = list_path + '[' + std::to_string(i) + ']';
    if (places.IsBad(path)) continue;
    Pool pool;
    auto error = ReadPool(texts[i], &pool);
    if (!error && prefix != nullptr) error = CheckPoolInPrefix(pool, *prefix);
    if (error) {
      report.Error(places.At(path), path, error->message, error->suggestion);
    } else {
      pools.push_back({pool, path});
    }
  }
  // Of pools with the same first address the one that is earlier in the file comes first.
  std::stable_sort(pools.begin(), pools.end(), [](const PlacedPool& a, const PlacedPool& b) {
    return a.pool.first < b.pool.first;
  });
  CheckDisjoint(pools, places, report);
  return pools;
}

}  // namespace ringdhcp
