#ifndef RINGDHCP_SERVER_CONFIG_REPORT_H_
#define RINGDHCP_SERVER_CONFIG_REPORT_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "server/config/loader.h"

namespace ringdhcp {

/// A place in a configuration file, both from 1. Line 0 stands for the file as a whole.
struct FilePosition {
  int line = 0;
  int column = 0;
};

/// Why a value can't be used, for the report.
struct ValueError {
  std::string message;
  std::string suggestion;
};

/// Gathers what is wrong with one file.
class Report {
 public:
  /// Diagnostics of one severity that are kept; the others are only counted.
  static constexpr std::size_t kDiagnosticsMax = 1000;

  explicit Report(std::string file) : file_(std::move(file)) {}

  void Error(FilePosition at, std::string path, std::string message, std::string suggestion = "");
  void Warning(FilePosition at, std::string path, std::string message, std::string suggestion = "");
  /// Are further errors only counted?
  bool ErrorsFull() const { return seen_[0] >= kDiagnosticsMax; }
  /// Everything reported so far, by line and column, then in the order of arrival. Empties the
  /// report.
  std::vector<Diagnostic> Take();

 private:
  void Add(Severity severity, FilePosition at, std::string path, std::string message,
           std::string suggestion);

  std::string file_;
  std::vector<Diagnostic> diagnostics_;
  std::array<std::size_t, 2> seen_{};  // by severity: errors, warnings
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_REPORT_H_
