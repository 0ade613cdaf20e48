#include "server/admin/log.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/admin/json_text.h"
#include "spdlog/async.h"
#include "spdlog/async_logger.h"
#include "spdlog/sinks/stdout_sinks.h"

namespace ringdhcp {
namespace {

constexpr std::size_t kWaitingLinesMax = 8192;

spdlog::level::level_enum ToSpdlog(Logger::Level level) {
  switch (level) {
    case Logger::Level::kTrace:
      return spdlog::level::trace;
    case Logger::Level::kDebug:
      return spdlog::level::debug;
    case Logger::Level::kInfo:
      return spdlog::level::info;
    case Logger::Level::kWarning:
      return spdlog::level::warn;
    case Logger::Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

Logger::Level FromConfig(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return Logger::Level::kTrace;
    case LogLevel::kDebug:
      return Logger::Level::kDebug;
    case LogLevel::kInfo:
      return Logger::Level::kInfo;
    case LogLevel::kWarning:
      return Logger::Level::kWarning;
    case LogLevel::kError:
      return Logger::Level::kError;
  }
  return Logger::Level::kInfo;
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7f;
         });
}

class SpdlogLogger final : public Logger {
 public:
  SpdlogLogger(LogLevel level, LogFormat format)
      : json_(format == LogFormat::kJson),
        pool_(std::make_shared<spdlog::details::thread_pool>(kWaitingLinesMax, 1)),
        logger_(std::make_shared<spdlog::async_logger>(
            "ringdhcp", std::make_shared<spdlog::sinks::stderr_sink_mt>(), pool_,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_level(ToSpdlog(FromConfig(level)));
    logger_->set_pattern(json_ ? "{\"time\":\"%Y-%m-%dT%H:%M:%S.%e%z\",\"level\":\"%l\",%v}"
                               : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger_->flush_on(spdlog::level::trace);
  }

  void Write(Level level, std::string_view message, std::initializer_list<Field> fields) override {
    if (!logger_->should_log(ToSpdlog(level))) return;
    std::string line =
        json_ ? absl::StrCat("\"message\":", JsonQuote(message)) : std::string(message);
    for (const auto& [key, value] : fields) {
      if (json_) {
        absl::StrAppend(&line, ",", JsonQuote(key), ":", JsonQuote(value));
      } else {
        absl::StrAppend(&line, " ", std::string(key), "=",
                        NeedsQuotes(value) ? JsonQuote(value) : value);
      }
    }
    logger_->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  const bool json_;
  std::shared_ptr<spdlog::details::thread_pool> pool_;  // outlives the logger's last line
  std::shared_ptr<spdlog::async_logger> logger_;
};

}  // namespace

std::unique_ptr<Logger> MakeLogger(LogLevel level, LogFormat format) {
  return std::make_unique<SpdlogLogger>(level, format);
}

}  // namespace ringdhcp
