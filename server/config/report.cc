#include "server/config/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ringdhcp {

void Report::Error(FilePosition at, std::string path, std::string message, std::string suggestion) {
  Add(Severity::kError, at, std::move(path), std::move(message), std::move(suggestion));
}

void Report::Warning(FilePosition at, std::string path, std::string message,
                     std::string suggestion) {
  Add(Severity::kWarning, at, std::move(path), std::move(message), std::move(suggestion));
}

void Report::Add(Severity severity, FilePosition at, std::string path, std::string message,
                 std::string suggestion) {
  if (++seen_[static_cast<std::size_t>(severity)] > kDiagnosticsMax) return;
  diagnostics_.push_back({severity, file_, at.line, at.column, std::move(path), std::move(message),
                          std::move(suggestion)});
}

std::vector<Diagnostic> Report::Take() {
  for (const Severity severity : {Severity::kError, Severity::kWarning}) {
    std::size_t& seen = seen_[static_cast<std::size_t>(severity)];
    if (seen > kDiagnosticsMax) {
      const char* noun = severity == Severity::kError ? " more errors" : " more warnings";
      diagnostics_.push_back({severity, file_, 0, 0, "",
                              std::to_string(seen - kDiagnosticsMax) + noun + " are not shown",
                              ""});
    }
    seen = 0;
  }
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tie(a.line, a.column) < std::tie(b.line, b.column);
                   });
  return std::exchange(diagnostics_, {});
}

}  // namespace ringdhcp
