#ifndef RINGDHCP_SERVER_CONFIG_LOADER_H_
#define RINGDHCP_SERVER_CONFIG_LOADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/server_config.h"

namespace ringdhcp {

enum class Severity : std::uint8_t { kError, kWarning };

/// One thing wrong (or doubtful) with a configuration.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;
  int line = 0;            // from 1; 0: the file as a whole
  int column = 0;          // from 1
  std::string path;        // for example subnets[1].pools[0]
  std::string message;     // what is wrong
  std::string suggestion;  // what to write instead; may be empty
  /// "file:line:column: error: path: message (did you mean ...)".
  std::string ToString() const;
};

struct LoadResult {
  /// Meaningful only when ok().
  ServerConfig config;
  /// Every problem found, in file order.
  std::vector<Diagnostic> diagnostics;
  bool ok() const;  // no kError
};

/// Checks the text of a configuration as a whole and reports everything at once. Never throws.
LoadResult LoadConfigText(std::string_view text, const std::string& file_name);
/// The same for a file; an unreadable file is one diagnostic with line 0.
LoadResult LoadConfigFile(const std::string& path);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_LOADER_H_
