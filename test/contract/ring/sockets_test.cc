#include "server/io/sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "server/io/port_owner.h"
#include "test/contract/ring/namespaces.h"

namespace ringdhcp {
namespace {

using testing::HasSubstr;

class Sockets : public testing::Test {
 protected:
  void SetUp() override {
    namespaces_.AddVeth("s0", "10.0.0.1/24", "c0", "10.0.0.2/24");
    namespaces_.AddVeth("s1", "10.1.0.1/24", "c1", "10.1.0.2/24");
  }
  static int Index(const char* name) { return static_cast<int>(if_nametoindex(name)); }
  static int Option(int fd, int level, int option) {
    int value = -1;
    socklen_t size = sizeof(value);
    EXPECT_EQ(getsockopt(fd, level, option, &value, &size), 0);
    return value;
  }
  static void Close(const InterfaceSockets& sockets) {
    close(sockets.udp_fd);
    if (sockets.packet_fd >= 0) close(sockets.packet_fd);
  }

  Namespaces namespaces_;
};

TEST_F(Sockets, OpensBothInterfacesAtOnceWithTheirOptions) {
  const auto first = OpenInterfaceSockets("s0", Index("s0"));
  const auto second = OpenInterfaceSockets("s1", Index("s1"));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->ifindex, Index("s0"));
  EXPECT_GE(first->packet_fd, 0);
  EXPECT_EQ(first->hardware_address[0] & 1, 0) << "a station's address is not a group address";
  EXPECT_NE(first->hardware_address, second->hardware_address);
  EXPECT_EQ(Option(first->udp_fd, SOL_SOCKET, SO_BINDTOIFINDEX), Index("s0"));
  EXPECT_EQ(Option(first->udp_fd, IPPROTO_IP, IP_PKTINFO), 1);
  EXPECT_EQ(Option(first->udp_fd, IPPROTO_IP, IP_RECVERR), 0);
  EXPECT_EQ(Option(first->udp_fd, SOL_SOCKET, SO_BROADCAST), 1);
  EXPECT_EQ(Option(first->udp_fd, SOL_SOCKET, SO_REUSEADDR), 0);
  EXPECT_GE(Option(first->udp_fd, SOL_SOCKET, SO_RCVBUF), 4 << 20);
  EXPECT_GE(Option(first->udp_fd, SOL_SOCKET, SO_SNDBUF), 2 << 20);
  Close(*first);
  Close(*second);
}

TEST_F(Sockets, GivesNoPacketSocketToADeviceThatIsNoEthernet) {
  const auto sockets = OpenInterfaceSockets("lo", Index("lo"));
  ASSERT_TRUE(sockets.ok()) << sockets.status();
  EXPECT_EQ(sockets->packet_fd, -1);
  Close(*sockets);
}

TEST_F(Sockets, NamesTheProcessThatHasThePort) {
  std::array<int, 2> ready;
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t rival = fork();
  ASSERT_GE(rival, 0);
  if (rival == 0) {
    prctl(PR_SET_NAME, "rival-dhcpd");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(67);
    const char result =
        bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 'y' : 'n';
    if (write(ready[1], &result, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char result = 0;
  ASSERT_EQ(read(ready[0], &result, 1), 1);
  ASSERT_EQ(result, 'y');
  const auto sockets = OpenInterfaceSockets("s0", Index("s0"));
  const std::string owners = DescribeUdpPortOwners(kServerPort);
  kill(rival, SIGKILL);
  waitpid(rival, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  ASSERT_FALSE(sockets.ok());
  EXPECT_EQ(sockets.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(sockets.status().message(), HasSubstr("s0"));
  EXPECT_THAT(owners, HasSubstr("rival-dhcpd (pid " + std::to_string(rival) + ")"));
  const auto after = OpenInterfaceSockets("s0", Index("s0"));
  ASSERT_TRUE(after.ok()) << after.status();
  Close(*after);
}

TEST_F(Sockets, NamesThisProcessWhenNobodyElseHasThePort) {
  const auto first = OpenInterfaceSockets("s0", Index("s0"));
  ASSERT_TRUE(first.ok());
  const auto second = OpenInterfaceSockets("s0", Index("s0"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(DescribeUdpPortOwners(kServerPort),
              HasSubstr("(pid " + std::to_string(getpid()) + ")"));
  Close(*first);
}

TEST_F(Sockets, SaysWhichInterfaceIsAbsent) {
  const auto sockets = OpenInterfaceSockets("gone0", 9999);
  ASSERT_FALSE(sockets.ok());
  EXPECT_THAT(sockets.status().message(), HasSubstr("gone0"));
}

TEST_F(Sockets, CountsTheDropsOfAFullReceiveBuffer) {
  const auto sockets = OpenInterfaceSockets("s0", Index("s0"));
  ASSERT_TRUE(sockets.ok());
  EXPECT_EQ(ReceiveDrops(sockets->udp_fd), 0U);
  const int small = 4096;
  ASSERT_EQ(setsockopt(sockets->udp_fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
  namespaces_.InClients([] {
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(67);
    to.sin_addr.s_addr = htonl(0x0A000001);
    const std::array<char, 300> payload{};
    for (int n = 0; n < 200; ++n) {
      sendto(fd, payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&to),
             sizeof(to));
    }
    close(fd);
  });
  for (int tries = 0; tries < 100 && ReceiveDrops(sockets->udp_fd) == 0U; ++tries) usleep(10000);
  EXPECT_GT(ReceiveDrops(sockets->udp_fd).value_or(0), 0U);
  Close(*sockets);
  EXPECT_EQ(ReceiveDrops(-1), std::nullopt);
}

}  // namespace
}  // namespace ringdhcp
