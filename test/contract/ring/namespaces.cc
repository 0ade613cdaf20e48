#include "test/contract/ring/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace ringdhcp {
namespace {

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr,
               "%s: %s\nThese tests make network namespaces and veth pairs: run them as root, in a "
               "container with CAP_SYS_ADMIN and CAP_NET_ADMIN, with iproute2 installed.\n",
               what.c_str(), std::strerror(errno));
  std::abort();
}

int OpenNamespace() {
  const int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0) Fail("open /proc/thread-self/ns/net");
  return fd;
}

void Enter(int fd) {
  if (setns(fd, CLONE_NEWNET) != 0) Fail("setns");
}

// The kernel attaches the queueing discipline a while after the carrier came; what is sent until
// then vanishes without an error. The operational state turns to UP in the same step.
void AwaitCarrier(const std::string& device) {
  for (int tries = 0; tries < 200; ++tries) {
    const std::string command = "ip -o link show dev " + device + " | grep -q 'state UP'";
    if (std::system(command.c_str()) == 0) return;
    usleep(20'000);
  }
  Fail("waiting for the carrier of " + device);
}

int MakeNamespace() {
  if (unshare(CLONE_NEWNET) != 0) Fail("unshare(CLONE_NEWNET)");
  // Keeps router solicitations and the like out of the captures.
  std::ofstream("/proc/sys/net/ipv6/conf/default/disable_ipv6") << "1";
  Namespaces::Run("ip link set lo up");
  return OpenNamespace();
}

}  // namespace

Namespaces::Namespaces() {
  first_fd_ = OpenNamespace();
  client_fd_ = MakeNamespace();
  server_fd_ = MakeNamespace();
}

Namespaces::~Namespaces() {
  Enter(first_fd_);
  close(first_fd_);
  close(server_fd_);
  close(client_fd_);
}

void Namespaces::Run(const std::string& command) {
  if (std::system(command.c_str()) != 0) Fail(command);
}

void Namespaces::InClients(const std::function<void()>& action) const {
  Enter(client_fd_);
  action();
  Enter(server_fd_);
}

void Namespaces::AddVeth(const std::string& server, const std::string& server_address,
                         const std::string& client, const std::string& client_address) {
  Run("ip link add " + server + " type veth peer name " + client + " netns /proc/" +
      std::to_string(getpid()) + "/fd/" + std::to_string(client_fd_));
  Run("ip addr add " + server_address + " dev " + server);
  Run("ip link set " + server + " up");
  InClients([&] {
    Run("ip addr add " + client_address + " dev " + client);
    Run("ip link set " + client + " up");
    AwaitCarrier(client);
  });
  AwaitCarrier(server);
}

}  // namespace ringdhcp
