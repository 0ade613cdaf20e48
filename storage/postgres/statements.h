#ifndef RINGDHCP_STORAGE_POSTGRES_STATEMENTS_H_
#define RINGDHCP_STORAGE_POSTGRES_STATEMENTS_H_

#include <string>

namespace ringdhcp {

// Classes of the advisory locks: with 1 of one program that migrates, with 2 in the maintenance of
// the history; with the hash of a server id of the connection that may write for it.
inline constexpr char kMigrationLock[] = "1382641521, 1";
inline constexpr char kServerLockClass[] = "1382641522";

/// The batch write: the position of this server, its leases and the history in one statement, so
/// in one transaction and one round trip. $1 server id, $2 session, $3 position, $4-$16 the arrays
/// of LeaseArrays. Returns the number of rows of this server that this session owns: 1, or 0 with
/// nothing written.
std::string UpsertBatch(bool with_history);

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_STATEMENTS_H_
