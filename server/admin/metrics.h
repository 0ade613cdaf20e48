#ifndef RINGDHCP_SERVER_ADMIN_METRICS_H_
#define RINGDHCP_SERVER_ADMIN_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "prometheus/collectable.h"
#include "server/config/server_config.h"
#include "server/shard/shard.h"
#include "storage/postgres/replicator.h"

namespace ringdhcp {

/// The shard's counters as Prometheus metric families, read without a lock that the packet path
/// could wait for. Any thread. What is given outlives it.
class ShardCollectable final : public prometheus::Collectable {
 public:
  /// start_wall_s: when the server started, Unix time. replicator: null without PostgreSQL.
  ShardCollectable(const Shard& shard, const ServerConfig& config, std::int64_t start_wall_s,
                   const Replicator* replicator);
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const Shard& shard_;
  const ServerConfig& config_;
  const std::int64_t start_wall_s_;
  const Replicator* const replicator_;
};

/// "local", "relaxed", "postgresql".
std::string DurabilityName(Durability durability);
/// "local", "memory".
std::string StorageName(StorageType storage);

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_METRICS_H_
