#include "server/io/port_owner.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringdhcp {
namespace {

namespace fs = std::filesystem;

// Adds the link texts ("socket:[1234]") of the sockets on `port` listed in a /proc/net/udp file.
void CollectSockets(const char* path, std::uint16_t port, std::set<std::string>& links) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string number, local, skipped, inode;
    fields >> number >> local;
    for (int i = 0; i < 7; ++i) fields >> skipped;  // remote to timeout
    fields >> inode;
    const std::size_t colon = local.rfind(':');
    if (colon == std::string::npos || inode.empty() || inode == "0") continue;
    unsigned value = 0;
    std::from_chars(local.data() + colon + 1, local.data() + local.size(), value, 16);
    if (value == port) links.insert(absl::StrCat("socket:[", inode, "]"));
  }
}

bool HasOneOf(const fs::path& descriptors, const std::set<std::string>& links) {
  std::error_code error;
  for (fs::directory_iterator it(descriptors, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code link_error;
    const fs::path target = fs::read_symlink(it->path(), link_error);
    if (!link_error && links.contains(target.string())) return true;
  }
  return false;
}

std::string ProcessName(const fs::path& process) {
  std::ifstream file(process / "comm");
  std::string name;
  std::getline(file, name);
  return name.empty() ? "unnamed" : name;
}

}  // namespace

std::string DescribeUdpPortOwners(std::uint16_t port) {
  std::set<std::string> links;
  CollectSockets("/proc/thread-self/net/udp", port, links);
  CollectSockets("/proc/thread-self/net/udp6", port, links);
  if (links.empty()) return "a process that has gone meanwhile";
  std::map<int, std::string> owners;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string entry = it->path().filename().string();
    int pid = 0;
    const auto [rest, parse_error] =
        std::from_chars(entry.data(), entry.data() + entry.size(), pid);
    if (parse_error != std::errc() || rest != entry.data() + entry.size()) continue;
    if (HasOneOf(it->path() / "fd", links)) owners.emplace(pid, ProcessName(it->path()));
  }
  if (owners.size() > 1) owners.erase(getpid());
  if (owners.empty()) {
    return "a process that cannot be seen from here (another container or pid namespace)";
  }
  return absl::StrJoin(owners, ", ", [](std::string* out, const auto& owner) {
    absl::StrAppend(out, owner.second, " (pid ", owner.first, ")");
  });
}

}  // namespace ringdhcp
