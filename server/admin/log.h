#ifndef RINGDHCP_SERVER_ADMIN_LOG_H_
#define RINGDHCP_SERVER_ADMIN_LOG_H_

#include <memory>

#include "server/base/logger.h"
#include "server/config/server_config.h"

namespace ringdhcp {

/// The log on standard error, one event a line, written by a thread of its own: a caller never
/// waits for a slow terminal or a full pipe; when 8,192 lines wait the oldest are lost.
/// Text: time, level, message, key=value fields. JSON: an object with time (RFC 3339), level,
/// message and the fields. Waiting lines are written when the logger is destroyed.
std::unique_ptr<Logger> MakeLogger(LogLevel level, LogFormat format);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_LOG_H_
