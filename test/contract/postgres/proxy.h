#ifndef RINGDHCP_TEST_CONTRACT_POSTGRES_PROXY_H_
#define RINGDHCP_TEST_CONTRACT_POSTGRES_PROXY_H_

#include <atomic>
#include <thread>

namespace ringdhcp {

/// A TCP proxy on 127.0.0.1 before a PostgreSQL server there, as the network between: it delays, it
/// loses connections, it swallows. One thread of its own.
class Proxy {
 public:
  explicit Proxy(int target_port);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  int port() const { return port_; }
  /// Each piece of data waits so long, in both directions.
  void DelayBy(int milliseconds) { delay_ms_ = milliseconds; }
  /// Breaks every connection.
  void Drop() { drop_ = true; }
  /// Takes connections and data, and forwards nothing.
  void Swallow(bool swallow) { swallow_ = swallow; }

 private:
  void Run();

  const int target_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> delay_ms_ = 0;
  std::atomic<bool> drop_ = false;
  std::atomic<bool> swallow_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_POSTGRES_PROXY_H_
