#ifndef RINGDHCP_STORAGE_POSTGRES_CONNECTION_STRING_H_
#define RINGDHCP_STORAGE_POSTGRES_CONNECTION_STRING_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace ringdhcp {

/// A parameter of libpq that the operator may have set, the environment variable that sets it (or
/// null) and our value for when neither did.
struct ConnectionDefault {
  const char* keyword;
  const char* environment;
  std::string value;
};

/// `connection` (a keyword/value string or a URI, as libpq reads them) with the defaults for what
/// it leaves open, as keyword/value string. Fails with libpq's words when it can't be read; they
/// don't repeat a password.
absl::StatusOr<std::string> WithDefaults(const std::string& connection,
                                         std::span<const ConnectionDefault> defaults);

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_CONNECTION_STRING_H_
