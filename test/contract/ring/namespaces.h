#ifndef RINGDHCP_TEST_CONTRACT_RING_NAMESPACES_H_
#define RINGDHCP_TEST_CONTRACT_RING_NAMESPACES_H_

#include <functional>
#include <string>

namespace ringdhcp {

/// Two fresh network namespaces: the server's, in which the calling thread is from construction on,
/// and the clients'. Both vanish with the object and the sockets opened in them; the thread returns
/// to its first namespace. Needs root (CAP_SYS_ADMIN); fails the process with a clear message
/// without. Threads and child processes made later are in the server's namespace.
class Namespaces {
 public:
  Namespaces();
  ~Namespaces();
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  /// Makes `server` here and `client` over there, connected, up, with addresses "a.b.c.d/len".
  void AddVeth(const std::string& server, const std::string& server_address,
               const std::string& client, const std::string& client_address);
  /// Runs a shell command here; a failure ends the process.
  static void Run(const std::string& command);
  /// Runs `action` with the thread in the clients' namespace.
  void InClients(const std::function<void()>& action) const;

 private:
  int first_fd_ = -1;
  int server_fd_ = -1;
  int client_fd_ = -1;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_RING_NAMESPACES_H_
