#ifndef RINGDHCP_SERVER_ADMIN_COMMANDS_H_
#define RINGDHCP_SERVER_ADMIN_COMMANDS_H_

#include <string>

namespace ringdhcp {

/// Loads the configuration and serves on the calling thread until SIGTERM or SIGINT, then drains:
/// finishes the packets at hand, commits, sends what is held. Returns the exit status: 0 after a
/// complete drain, 1 when it could not start or had to give up the drain after 5 s. SIGHUP is
/// reserved for a reload of the configuration and changes nothing yet. Stored leases that can't be
/// read end the start, unless `skip_damaged_leases`: then it goes on with those that can.
int Serve(const std::string& config_path, bool skip_damaged_leases);

/// Checks a configuration and prints every error and warning to standard error, or what the file
/// says to standard output. Returns 0 when it can be served, else 1.
int CheckConfig(const std::string& config_path);

/// Prints one line of JSON for each lease in the data directory of a server that is not running.
/// Returns 0, or 1 after an error message.
int PrintLeases(const std::string& data_directory);

enum class DatabaseAction { kMigrate, kStatus };

/// Applies missing steps of the schema in PostgreSQL (kMigrate), and prints the steps with when
/// they were applied. Returns 0 when the schema is the one this program uses, else 1.
int ManageDatabase(DatabaseAction action, const std::string& config_path);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_COMMANDS_H_
