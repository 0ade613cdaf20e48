#include "server/shard/limits.h"

#include <bit>

namespace ringdhcp {

absl::Status Limits::Check() const {
  // IORING_MAX_CQ_ENTRIES of the kernel is 65,536.
  if (completions_outstanding_max() > 65536) {
    return absl::InvalidArgumentError(
        "interfaces_max, receive_buffers and send_slots need more completion entries than the "
        "kernel's 65536");
  }
  if (!std::has_single_bit(receive_buffers) || receive_buffers < 2 || receive_buffers > 32768) {
    return absl::InvalidArgumentError("receive_buffers must be a power of two of 2-32768");
  }
  if (quantum_packets < 1 || quantum_packets > 64) {
    return absl::InvalidArgumentError("quantum_packets must be 1-64");
  }
  if (batch_packets_max < 1 || commit_rows_max < batch_packets_max) {
    return absl::InvalidArgumentError("commit_rows_max must be at least batch_packets_max");
  }
  if (egress_in_flight_max < 1 || completions_max < 1) {
    return absl::InvalidArgumentError("egress and completion bounds must be at least 1");
  }
  // Room for the replies of a whole batch is kept free of released ACKs.
  if (egress_queue_max <= batch_packets_max) {
    return absl::InvalidArgumentError("egress_queue_max must be above batch_packets_max");
  }
  return absl::OkStatus();
}

}  // namespace ringdhcp
