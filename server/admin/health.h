#ifndef RINGDHCP_SERVER_ADMIN_HEALTH_H_
#define RINGDHCP_SERVER_ADMIN_HEALTH_H_

#include <mutex>
#include <string>

#include "server/admin/http_server.h"
#include "server/shard/shard_metrics.h"

namespace prometheus {
class Collectable;
}
namespace ringdhcp {
class Replicator;
}

namespace ringdhcp {

/// What /healthz, /readyz and /metrics say. /healthz is about this process: 503 when the packet
/// path has not turned for 5 s. /readyz is about service: 503, with the cause, while leases are
/// loading, no interface is served, the lease store is failing, or the server is stopping; it also
/// tells how PostgreSQL does, if leases go there. Any thread.
class Health {
 public:
  /// The packet path is up. They live until Detach at least; `replicator` may be null.
  void Attach(const ShardMetrics* metrics, const prometheus::Collectable* collectable,
              const Replicator* replicator);
  /// The packet path is about to end.
  void Detach();
  HttpAnswer Answer(const std::string& path) const;

 private:
  HttpAnswer Healthz() const;
  HttpAnswer Readyz() const;
  std::string PostgresLine() const;

  mutable std::mutex mutex_;  // guards the rest
  const ShardMetrics* metrics_ = nullptr;
  const prometheus::Collectable* collectable_ = nullptr;
  const Replicator* replicator_ = nullptr;
  bool stopped_ = false;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_HEALTH_H_
