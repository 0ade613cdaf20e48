#include <algorithm>
#include <cstdint>
#include <iostream>

#include "server/admin/commands.h"
#include "server/config/loader.h"

namespace ringdhcp {
namespace {

std::string Count(std::int64_t count, const std::string& singular, const std::string& plural) {
  return std::to_string(count) + " " + (count == 1 ? singular : plural);
}

}  // namespace

int CheckConfig(const std::string& config_path) {
  const LoadResult result = LoadConfigFile(config_path);
  for (const Diagnostic& diagnostic : result.diagnostics) {
    std::cerr << diagnostic.ToString() << "\n";
  }
  const auto errors =
      std::count_if(result.diagnostics.begin(), result.diagnostics.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::kError; });
  if (!result.ok()) {
    std::cerr << config_path << ": " << Count(errors, "error", "errors") << "\n";
    return 1;
  }
  std::uint64_t addresses = 0;
  for (const Subnet& subnet : result.config.subnets) {
    for (const Pool& pool : subnet.pools) addresses += pool.Size();
  }
  std::cout << config_path << ": ok, "
            << Count(static_cast<std::int64_t>(result.config.subnets.size()), "subnet", "subnets")
            << ", " << Count(static_cast<std::int64_t>(addresses), "address", "addresses") << "\n";
  return 0;
}

}  // namespace ringdhcp
