#ifndef RINGDHCP_STORAGE_POSTGRES_SOCKET_GUARD_H_
#define RINGDHCP_STORAGE_POSTGRES_SOCKET_GUARD_H_

#include <chrono>
#include <memory>

namespace ringdhcp {

/// Ends waiting for a database server that does not answer. libpq waits for an answer without a
/// limit, and a server that is paused, or gone without a word, enforces no statement_timeout; what
/// ends the wait is to shut the socket down, from this object's own thread. Any thread.
class SocketGuard {
 public:
  SocketGuard();
  ~SocketGuard();
  SocketGuard(const SocketGuard&) = delete;
  SocketGuard& operator=(const SocketGuard&) = delete;

  /// From now on `socket` is the connection (it is duplicated); -1: there is none.
  void Watch(int socket);
  /// The connection is shut down unless Disarm or another Arm comes within `limit`.
  void Arm(std::chrono::milliseconds limit);
  void Disarm();
  /// Shuts the connection down now, and each later one at once: the program is stopping.
  void CutForGood();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_SOCKET_GUARD_H_
