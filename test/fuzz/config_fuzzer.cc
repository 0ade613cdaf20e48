// The text of a configuration: loading never fails but by diagnostics, and what is accepted keeps
// every bound that the rest of the server relies on.
#include <algorithm>
#include <string_view>

#include "server/base/check.h"
#include "server/config/loader.h"

namespace ringdhcp {
namespace {

void CheckDiagnostics(const LoadResult& result, std::string_view text) {
  const auto lines =
      1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
  for (const Diagnostic& diagnostic : result.diagnostics) {
    RINGDHCP_CHECK(diagnostic.line >= 0 && diagnostic.line <= lines + 1);
    RINGDHCP_CHECK(diagnostic.line == 0 || diagnostic.column >= 1);
    RINGDHCP_CHECK(!diagnostic.message.empty());
    RINGDHCP_CHECK(diagnostic.ToString().starts_with("fuzz.yaml"));
  }
}

void CheckSubnet(const Subnet& subnet) {
  RINGDHCP_CHECK(subnet.id.value != 0);
  RINGDHCP_CHECK(subnet.prefix.length <= 32);
  RINGDHCP_CHECK((subnet.prefix.address.value & ~subnet.prefix.Mask()) == 0);
  const Pool* before = nullptr;
  for (const Pool& pool : subnet.pools) {
    RINGDHCP_CHECK(pool.first <= pool.last);
    RINGDHCP_CHECK(subnet.prefix.Contains(pool.first) && subnet.prefix.Contains(pool.last));
    RINGDHCP_CHECK(before == nullptr || before->last < pool.first);
    before = &pool;
  }
  const LeaseTimes& times = subnet.lease_times;
  RINGDHCP_CHECK(times.min_s > 0 && times.min_s <= times.default_s &&
                 times.default_s <= times.max_s);
  RINGDHCP_CHECK(times.t1 > 0 && times.t1 <= times.t2 && times.t2 < 1);
  for (std::size_t i = 0; i < subnet.options.size(); ++i) {
    const ConfiguredOption& option = subnet.options[i];
    RINGDHCP_CHECK(option.code != 0 && option.code != 255);
    RINGDHCP_CHECK(option.value.size() <= 2048);
    RINGDHCP_CHECK(i == 0 || subnet.options[i - 1].code < option.code);
  }
}

void CheckConfig(const ServerConfig& config) {
  std::uint64_t addresses = 0;
  for (std::size_t i = 0; i < config.subnets.size(); ++i) {
    const Subnet& subnet = config.subnets[i];
    CheckSubnet(subnet);
    for (const Pool& pool : subnet.pools) addresses += pool.Size();
    for (std::size_t j = 0; j < i; ++j) {
      const Subnet& other = config.subnets[j];
      RINGDHCP_CHECK(other.prefix < subnet.prefix && !other.prefix.Overlaps(subnet.prefix));
      RINGDHCP_CHECK(other.id != subnet.id);
    }
  }
  RINGDHCP_CHECK(addresses <= std::uint64_t{1} << 27);  // what the engine takes
  RINGDHCP_CHECK(config.offer_hold_s >= 1 && config.offer_hold_s <= 3600);
  RINGDHCP_CHECK(config.cache_threshold >= 0 && config.cache_threshold <= 0.5);
  static_cast<void>(ServesInterface(config, "eth0"));
}

}  // namespace
}  // namespace ringdhcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ringdhcp::LoadResult result = ringdhcp::LoadConfigText(text, "fuzz.yaml");
  ringdhcp::CheckDiagnostics(result, text);
  if (result.ok()) ringdhcp::CheckConfig(result.config);
  return 0;
}
