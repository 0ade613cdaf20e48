#ifndef RINGDHCP_SERVER_BASE_LOGGER_H_
#define RINGDHCP_SERVER_BASE_LOGGER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace ringdhcp {

/// The seam to the log. Events of the environment and of operators go here, never packets one by
/// one. Any thread.
class Logger {
 public:
  enum class Level : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };
  using Field = std::pair<std::string_view, std::string>;
  virtual ~Logger() = default;
  /// `message` is a fixed text; what varies goes into `fields`.
  virtual void Write(Level level, std::string_view message,
                     std::initializer_list<Field> fields) = 0;

  void Info(std::string_view message, std::initializer_list<Field> fields = {}) {
    Write(Level::kInfo, message, fields);
  }
  void Warning(std::string_view message, std::initializer_list<Field> fields = {}) {
    Write(Level::kWarning, message, fields);
  }
  void Error(std::string_view message, std::initializer_list<Field> fields = {}) {
    Write(Level::kError, message, fields);
  }
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_LOGGER_H_
