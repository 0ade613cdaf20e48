#ifndef RINGDHCP_SERVER_IO_URING_SETUP_H_
#define RINGDHCP_SERVER_IO_URING_SETUP_H_

#include <liburing.h>

#include "absl/status/status.h"

namespace ringdhcp {

/// Makes `ring` with `sq_entries` and at least `cq_entries` entries and the flags UringRing needs,
/// registers its fd, and probes features and opcodes. On error the ring is not made, and the
/// message names what is missing or what forbids io_uring, and what to do about it. The calling
/// thread becomes the ring's only issuer.
absl::Status SetUpUring(unsigned sq_entries, unsigned cq_entries, io_uring* ring);

/// Why io_uring_setup failed with `error` (an errno), in words for the operator. Reads
/// /proc/sys/kernel/io_uring_disabled.
absl::Status ExplainSetupError(int error);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_IO_URING_SETUP_H_
