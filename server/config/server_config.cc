#include "server/config/server_config.h"

#include <algorithm>
#include <string_view>

namespace ringdhcp {

namespace {

// A name is matched from the left; after a mismatch the last '*' takes one character more. Earlier
// stars need no second try, so the work is bounded by the product of the two lengths.
bool MatchesPattern(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos, star_end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_end = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool MatchesAny(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&name](const std::string& pattern) { return MatchesPattern(pattern, name); });
}

}  // namespace

bool ServesInterface(const ServerConfig& config, const std::string& name) {
  const bool included = config.interfaces_include.empty()
                            ? name != "lo"
                            : MatchesAny(config.interfaces_include, name);
  return included && !MatchesAny(config.interfaces_exclude, name);
}

}  // namespace ringdhcp
