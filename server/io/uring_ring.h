#ifndef RINGDHCP_SERVER_IO_URING_RING_H_
#define RINGDHCP_SERVER_IO_URING_RING_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "server/io/ring.h"

namespace ringdhcp {

struct UringLimits {
  std::size_t interfaces_max = 64;
  std::size_t buffers_per_interface = 256;  // power of two, at most 32768
  std::size_t buffer_payload_max = 2048;    // octets of payload per buffer
  std::size_t send_slots = 4096;
};

/// The Ring over io_uring: SINGLE_ISSUER | DEFER_TASKRUN, registered ring fd, fixed files, one
/// provided-buffer ring and one multishot recvmsg per interface. Probes every opcode and flag and
/// names a missing one, and what disables io_uring (sysctl, seccomp). Must be made and used on one
/// thread. The CQ holds every completion that can be outstanding (checked), so it can't overflow.
absl::StatusOr<std::unique_ptr<Ring>> MakeUringRing(const UringLimits& limits);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_URING_RING_H_
