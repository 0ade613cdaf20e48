#ifndef RINGDHCP_STORAGE_POSTGRES_BOOTSTRAP_H_
#define RINGDHCP_STORAGE_POSTGRES_BOOTSTRAP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "storage/outbox.h"
#include "storage/postgres/postgres_session.h"

namespace ringdhcp {

struct BootstrapResult {
  /// False: the two agree on where they stand, and nothing was compared.
  bool compared = false;
  std::uint64_t in_postgres = 0;  // leases of this server or in its subnets
  std::uint64_t loaded = 0;       // newer there, or missing here
  std::uint64_t kept = 0;         // newer here, or missing there; they will be sent
  /// The same version with different content: the one acknowledged later was taken.
  std::uint64_t conflicts = 0;
  std::string first_conflict;  // its address
};

/// Brings the local store up to date with PostgreSQL before service starts, when it is new, older
/// than what PostgreSQL has of this server, or another store than the one that fed it. `record` is
/// that of session.TakeServer. Afterwards both count positions alike: record.position is raised
/// or kept in `store`. Takes about 24 octets of memory for each local lease.
absl::StatusOr<BootstrapResult> Bootstrap(JournalStore& store, PostgresSession& session,
                                          const ServerRecord& record);

/// Has the store any lease?
absl::StatusOr<bool> HasLeases(Outbox& store);

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_BOOTSTRAP_H_
