#ifndef RINGDHCP_SERVER_BASE_CHECK_H_
#define RINGDHCP_SERVER_BASE_CHECK_H_

namespace ringdhcp {

/// Prints the failed condition to standard error and aborts. Any thread.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace ringdhcp

/// Ends the process on programmer error, in release builds too. Never for input or environment.
#define RINGDHCP_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::ringdhcp::CheckFailed(#condition, __FILE__, __LINE__))

#endif  // RINGDHCP_SERVER_BASE_CHECK_H_
