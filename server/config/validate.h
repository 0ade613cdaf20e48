#ifndef RINGDHCP_SERVER_CONFIG_VALIDATE_H_
#define RINGDHCP_SERVER_CONFIG_VALIDATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/config.pb.h"
#include "server/config/field_map.h"
#include "server/config/report.h"
#include "server/config/server_config.h"

namespace ringdhcp {

/// Turns what the file says into the checked configuration. Reports whatever is out of range,
/// contradictory or doubtful; a value that `places` has as bad is reported already and skipped.
/// The result is meaningful only if nothing was reported as an error, here or before.
ServerConfig BuildServerConfig(const config::Config& file, const FieldPlaces& places,
                               Report& report);

/// The part for `subnets` with the server-wide values that they inherit: options, lease times,
/// authoritative, server identifier. Ascending by prefix.
std::vector<Subnet> BuildSubnets(const config::Config& file, const FieldPlaces& places,
                                 Report& report);

/// A pool and where it is written.
struct PlacedPool {
  Pool pool;
  std::string path;
};

/// The pools of the subnet at `subnet_path` that can be read and lie inside `prefix` (any, if
/// null), ascending by first address.
std::vector<PlacedPool> BuildPools(const google::protobuf::RepeatedPtrField<std::string>& texts,
                                   const std::string& subnet_path, const Ipv4Prefix* prefix,
                                   const FieldPlaces& places, Report& report);

/// The lease times of the block at `path`; fields that aren't written are those of `inherited`.
/// `origin` says where those come from, for messages: "by default", "server-wide".
LeaseTimes BuildLeaseTimes(const config::LeaseTimes& block, const std::string& path,
                           const LeaseTimes& inherited, const char* origin,
                           const FieldPlaces& places, Report& report);

/// Where an option's value is written, for warnings that depend on the subnet it ends up in.
struct PlacedAddress {
  Ipv4Address address;
  std::string path;
};

/// The options of one block: wire values, and the addresses in them with their places.
struct OptionBlock {
  std::vector<ConfiguredOption> options;  // ascending by code
  std::vector<PlacedAddress> routers;
  std::vector<PlacedAddress> servers;  // options 6 and 42
};

/// The options of the block at `path`; an option that isn't written there is that of `inherited`.
/// An empty list takes the inherited option away.
OptionBlock BuildOptions(const config::Options& block, const std::string& path,
                         const OptionBlock& inherited, const FieldPlaces& places, Report& report);

/// The section storage.postgresql, and what it and durability demand of each other. `config` has
/// storage type and durability already.
void BuildPostgresql(const config::Config& file, const FieldPlaces& places, Report& report,
                     ServerConfig& config);

/// Reports a value outside of `min`-`max`. `unit` is " seconds" or the like, or empty.
bool CheckRange(std::uint32_t value, std::uint32_t min, std::uint32_t max, const char* unit,
                const std::string& path, const FieldPlaces& places, Report& report);

/// Reads the server identifier at `path` if it is written and good.
std::optional<Ipv4Address> BuildServerIdentifier(bool present, const std::string& text,
                                                 const std::string& path, const FieldPlaces& places,
                                                 Report& report);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_VALIDATE_H_
