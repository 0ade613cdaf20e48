#ifndef RINGDHCP_STORAGE_POSTGRES_POSTGRES_OPTIONS_H_
#define RINGDHCP_STORAGE_POSTGRES_POSTGRES_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringdhcp {

/// A subnet as SQL users see it.
struct PublishedSubnet {
  std::uint32_t id = 0;
  std::string prefix;  // "192.0.2.0/24"
  std::uint64_t pool_addresses = 0;
};

/// How a server uses PostgreSQL. Times in seconds.
struct PostgresOptions {
  /// libpq's connection string or URI, handed over as it is: several hosts, target_session_attrs,
  /// sslmode, service and passfile work as libpq documents them. May be empty: the environment.
  std::string connection;
  /// Names this server among those that share the database.
  std::string server_id;
  bool migrate = true;                  // apply missing migrations when connecting
  std::uint32_t connect_timeout_s = 3;  // per host; one in `connection` or PGCONNECT_TIMEOUT wins
  std::uint32_t statement_timeout_s = 10;
  std::size_t batch_rows_min = 64;
  std::size_t batch_rows_max = 1024;
  std::uint32_t history_days = 0;  // 0: no history
  std::vector<PublishedSubnet> subnets;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_POSTGRES_OPTIONS_H_
