#ifndef RINGDHCP_SERVER_ADMIN_PORT_OWNER_WATCH_H_
#define RINGDHCP_SERVER_ADMIN_PORT_OWNER_WATCH_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "server/base/logger.h"

namespace ringdhcp {

/// Finds out, on a thread of its own, who has UDP port 67, and logs it: to read /proc takes up to a
/// second on a large host, for which the packet path must not stand still.
class PortOwnerWatch {
 public:
  /// `logger` outlives it.
  explicit PortOwnerWatch(Logger& logger);
  /// Waits for a search under way.
  ~PortOwnerWatch();
  PortOwnerWatch(const PortOwnerWatch&) = delete;
  PortOwnerWatch& operator=(const PortOwnerWatch&) = delete;

  /// The port was taken on `interface`. Returns at once; one line is logged each time the owner is
  /// another one than last time. Any thread.
  void Report(const std::string& interface);

 private:
  void Run();

  Logger& logger_;
  std::mutex mutex_;  // guards waiting_ and ending_
  std::condition_variable changed_;
  std::set<std::string> waiting_;
  bool ending_ = false;
  std::map<std::string, std::string> logged_;  // by interface; the thread's own
  std::thread thread_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_PORT_OWNER_WATCH_H_
