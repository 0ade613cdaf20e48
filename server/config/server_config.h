#ifndef RINGDHCP_SERVER_CONFIG_SERVER_CONFIG_H_
#define RINGDHCP_SERVER_CONFIG_SERVER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/base/ipv4.h"
#include "server/lease/subnet.h"

namespace ringdhcp {

/// When an ACK may leave.
enum class Durability : std::uint8_t {
  kLocal,       // after the synced commit of the local store
  kRelaxed,     // at once: a crash may lose the last moments
  kPostgresql,  // after the commit in PostgreSQL, which follows the local one
};
enum class StorageType : std::uint8_t { kLocal, kMemory };
enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

/// The section storage.postgresql; times in seconds. Ranges are those of proto/config.proto.
struct PostgresqlConfig {
  std::string connection;
  std::string server_id;  // empty: the host name
  bool migrate = true;
  std::uint32_t connect_timeout_s = 3;
  std::uint32_t statement_timeout_s = 10;
  std::uint32_t batch_rows_max = 1024;
  std::uint32_t outbox_rows_max = 5'000'000;
  std::uint32_t history_days = 0;
};

/// The checked configuration; immutable once made. Defaults are those of proto/config.proto.
struct ServerConfig {
  std::vector<std::string> interfaces_include;  // empty: all but loopback
  std::vector<std::string> interfaces_exclude;
  std::vector<Subnet> subnets;  // ascending by prefix; prefixes do not overlap
  StorageType storage = StorageType::kLocal;
  std::string storage_directory = "/var/lib/ringdhcp";
  std::optional<PostgresqlConfig> postgresql;
  Durability durability = Durability::kLocal;
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
  std::string http_host = "127.0.0.1";  // empty: HTTP is off
  std::uint16_t http_port = 9547;
  std::uint32_t offer_hold_s = 30;
  std::uint32_t decline_probation_s = 900;
  double cache_threshold = 0.1;
  std::uint32_t stale_after_ms = 2000;
};

/// Is an interface called `name` to be served? Patterns know '*' (any run of characters). With an
/// empty include list everything but loopback "lo" matches.
bool ServesInterface(const ServerConfig& config, const std::string& name);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_SERVER_CONFIG_H_
