#include "server/io/uring_setup.h"

#include <sys/utsname.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ringdhcp {
namespace {

constexpr unsigned kSetupFlags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL |
                                 IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;

struct Named {
  unsigned value;
  const char* name;
};

// In the order in which Linux got them.
constexpr Named kFlags[] = {
    {IORING_SETUP_CQSIZE, "IORING_SETUP_CQSIZE (Linux 5.5)"},
    {IORING_SETUP_SUBMIT_ALL, "IORING_SETUP_SUBMIT_ALL (Linux 5.18)"},
    {IORING_SETUP_SINGLE_ISSUER, "IORING_SETUP_SINGLE_ISSUER (Linux 6.0)"},
    {IORING_SETUP_DEFER_TASKRUN, "IORING_SETUP_DEFER_TASKRUN (Linux 6.1)"},
};
constexpr Named kFeatures[] = {
    {IORING_FEAT_NODROP, "IORING_FEAT_NODROP"},
    {IORING_FEAT_SUBMIT_STABLE, "IORING_FEAT_SUBMIT_STABLE"},
    {IORING_FEAT_FAST_POLL, "IORING_FEAT_FAST_POLL"},
    {IORING_FEAT_EXT_ARG, "IORING_FEAT_EXT_ARG"},
};
// Multishot recvmsg is a flag of RECVMSG that can't be probed; it is older (6.0) than
// DEFER_TASKRUN, without which setup fails.
constexpr Named kOpcodes[] = {
    {IORING_OP_RECVMSG, "IORING_OP_RECVMSG"},
    {IORING_OP_SENDMSG, "IORING_OP_SENDMSG"},
    {IORING_OP_ASYNC_CANCEL, "IORING_OP_ASYNC_CANCEL"},
    {IORING_OP_READ, "IORING_OP_READ"},
};

std::string KernelRelease() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.release) : std::string("unknown");
}

std::string DisabledSysctl() {
  std::ifstream file("/proc/sys/kernel/io_uring_disabled");
  std::string value;
  file >> value;
  return value;
}

// The first setup flag this kernel refuses; each is tried together with its elders.
std::string RefusedFlag() {
  unsigned flags = 0;
  for (const Named& flag : kFlags) {
    flags |= flag.value;
    io_uring_params params{};
    params.flags = flags;
    params.cq_entries = 8;
    io_uring ring{};
    const int result = io_uring_queue_init_params(4, &ring, &params);
    if (result == 0) io_uring_queue_exit(&ring);
    if (result == -EINVAL) return flag.name;
  }
  return "";
}

absl::Status Probe(io_uring* ring) {
  std::vector<std::string> missing;
  for (const Named& feature : kFeatures) {
    if ((ring->features & feature.value) == 0) missing.emplace_back(feature.name);
  }
  const std::unique_ptr<io_uring_probe, void (*)(io_uring_probe*)> probe(
      io_uring_get_probe_ring(ring), io_uring_free_probe);
  if (probe == nullptr) {
    return absl::FailedPreconditionError(
        "io_uring does not answer IORING_REGISTER_PROBE: a seccomp profile may forbid the "
        "io_uring_register system call; allow it");
  }
  for (const Named& opcode : kOpcodes) {
    if (io_uring_opcode_supported(probe.get(), static_cast<int>(opcode.value)) == 0) {
      missing.emplace_back(opcode.name);
    }
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("this kernel's io_uring (Linux ", KernelRelease(), ") lacks ",
                   absl::StrJoin(missing, ", "), "; ringdhcp needs Linux 6.1 or newer"));
}

}  // namespace

absl::Status ExplainSetupError(int error) {
  switch (error) {
    case EPERM: {
      const std::string disabled = DisabledSysctl();
      if (disabled == "1" || disabled == "2") {
        return absl::PermissionDeniedError(absl::StrCat(
            "io_uring is disabled: the sysctl kernel.io_uring_disabled is ", disabled,
            disabled == "1" ? " (only for CAP_SYS_ADMIN or the group kernel.io_uring_group)" : "",
            "; set it to 0 with: sysctl -w kernel.io_uring_disabled=0"));
      }
      return absl::PermissionDeniedError(
          "io_uring is forbidden (EPERM): most likely by the seccomp profile of a container; allow "
          "io_uring_setup, io_uring_enter and io_uring_register in it");
    }
    case ENOSYS:
      return absl::FailedPreconditionError(absl::StrCat(
          "there is no io_uring here (ENOSYS): Linux ", KernelRelease(),
          " was built without it, or the seccomp profile of a container hides it; allow "
          "io_uring_setup, io_uring_enter and io_uring_register in it"));
    case EINVAL: {
      const std::string flag = RefusedFlag();
      return absl::FailedPreconditionError(
          absl::StrCat("this kernel's io_uring (Linux ", KernelRelease(), ") lacks ",
                       flag.empty() ? "something that was asked of it" : flag,
                       "; ringdhcp needs Linux 6.1 or newer"));
    }
    case ENOMEM:
      return absl::ResourceExhaustedError(
          "io_uring has no memory for its rings: raise RLIMIT_MEMLOCK (systemd: "
          "LimitMEMLOCK=infinity) or the memory limit of the control group");
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(
          "io_uring has no file descriptor left: raise RLIMIT_NOFILE (systemd: LimitNOFILE=)");
    default:
      return absl::ErrnoToStatus(error, "io_uring_setup failed");
  }
}

absl::Status SetUpUring(unsigned sq_entries, unsigned cq_entries, io_uring* ring) {
  io_uring_params params{};
  params.flags = kSetupFlags;
  params.cq_entries = cq_entries;
  int result = io_uring_queue_init_params(sq_entries, ring, &params);
  if (result < 0) return ExplainSetupError(-result);
  absl::Status status = Probe(ring);
  if (status.ok() && params.cq_entries < cq_entries) {
    status = absl::InternalError(absl::StrCat("asked io_uring for ", cq_entries,
                                              " completion entries and got ", params.cq_entries));
  }
  if (status.ok()) {
    result = io_uring_register_ring_fd(ring);
    if (result < 0) {
      status = absl::ErrnoToStatus(
          -result, "cannot register the ring's descriptor (IORING_REGISTER_RING_FDS, Linux 5.18)");
    }
  }
  if (!status.ok()) io_uring_queue_exit(ring);
  return status;
}

}  // namespace ringdhcp
