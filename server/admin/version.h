#ifndef RINGDHCP_SERVER_ADMIN_VERSION_H_
#define RINGDHCP_SERVER_ADMIN_VERSION_H_

namespace ringdhcp {

/// The version of this build, from CMake's project().
inline constexpr char kVersion[] = RINGDHCP_VERSION;

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_VERSION_H_
