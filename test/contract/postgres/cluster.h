#ifndef RINGDHCP_TEST_CONTRACT_POSTGRES_CLUSTER_H_
#define RINGDHCP_TEST_CONTRACT_POSTGRES_CLUSTER_H_

#include <string>
#include <vector>

#include "test/contract/store/store_support.h"

namespace ringdhcp {

/// A PostgreSQL server of the test's own, in a temporary directory, as the user postgres, with
/// fsync on. Listens on a socket in that directory and on a free port of 127.0.0.1, where it asks
/// for the password "secret". Failures end the test program.
class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void Start();
  /// Like pg_ctl stop -m fast.
  void Stop();
  /// Every process of it with SIGKILL, as a crash of the machine.
  void Crash();
  /// SIGSTOP to every process of it, and SIGCONT.
  void Pause();
  void Resume();

  /// Through the socket, without a password.
  std::string connection() const;
  std::string socket_directory() const { return directory_.path(); }
  int port() const { return port_; }
  const std::string& path() const { return directory_.path(); }

  /// The first column of the first row, as a superuser; "" when there is none or it is null.
  std::string Query(const std::string& sql) const;
  /// Ends every connection of ringdhcp from the server's side.
  void TerminateBackends() const;

 private:
  void Signal(int signal) const;
  std::vector<int> Processes() const;

  TemporaryDirectory directory_;
  int port_ = 0;
};

/// Runs a program and waits; its exit status.
int RunProgram(const std::vector<std::string>& arguments);

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_POSTGRES_CLUSTER_H_
