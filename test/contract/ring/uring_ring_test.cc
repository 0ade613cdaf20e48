// What only io_uring over real sockets can show.
#include "server/io/uring_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "server/io/uring_setup.h"
#include "test/contract/ring/ring_world.h"

namespace ringdhcp {
namespace {

using testing::HasSubstr;
using Kind = Completion::Kind;
constexpr InterfaceSlot kSlot{0};

class UringRingTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(world_->Attach(0).ok()); }
  std::vector<Completion> Collect(std::size_t count) {
    std::vector<Completion> all;
    std::array<Completion, 64> out;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    while (all.size() < count && std::chrono::steady_clock::now() < deadline) {
      const std::size_t n = world_->ring().Turn(out, 20'000'000);
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
    }
    return all;
  }
  /// Sends to `destination`:`port` and gives the errno of its completion.
  int Send(Ipv4Address destination, std::uint16_t port,
           Ipv4Address source = RingWorld::ServerAddress(0)) {
    SendRequest request;
    request.interface = kSlot;
    request.payload = payload_;
    request.source = source;
    request.destination = destination;
    request.destination_port = port;
    world_->ring().Send(request);
    const auto sent = Collect(1);
    if (sent.size() != 1 || sent[0].kind != Kind::kSent) return -1;
    return sent[0].error;
  }

  const std::vector<std::uint8_t> payload_ = std::vector<std::uint8_t>(300, 0x42);
  std::unique_ptr<RingWorld> world_ = MakeUringWorld();
};

TEST_F(UringRingTest, APortUnreachableNeitherStopsReceivingNorLosesASend) {
  // RFC 1122 section 3.2.2.1: a host without that port answers with an ICMP error. A DHCP client
  // whose socket is closed does, and any host can forge it.
  const int icmp = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
  ASSERT_GE(icmp, 0);
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(Send(RingWorld::ClientAddress(0), 6868), 0);
    pollfd poll_fd{icmp, POLLIN, 0};
    ASSERT_EQ(poll(&poll_fd, 1, 2000), 1) << "the client must have answered with ICMP";
    std::array<std::uint8_t, 1500> packet;
    ASSERT_GT(recv(icmp, packet.data(), packet.size(), 0), 28);
    ASSERT_EQ(packet[20], ICMP_DEST_UNREACH);
    EXPECT_EQ(Send(RingWorld::ClientAddress(0), 68), 0);
    const auto arrived = world_->ClientReceives(0);
    ASSERT_TRUE(arrived) << "a reply to somebody else was lost";
    EXPECT_EQ(arrived->payload, payload_);
    world_->ClientSends(0, {1}, RingWorld::ServerAddress(0));
    const auto got = Collect(1);
    ASSERT_EQ(got.size(), 1U);
    ASSERT_EQ(got[0].kind, Kind::kReceived) << "errno " << got[0].error;
    world_->ring().ReturnBuffer(kSlot, got[0].datagram.buffer);
  }
  close(icmp);
}

TEST_F(UringRingTest, ClientsThatAreGoneDoNotUseUpTheSendBuffer) {
  // Nobody answers ARP for these addresses. What is sent to them waits, charged to our socket, up
  // to the kernel's bound for each neighbour; with the default SO_SNDBUF two of them would fill it.
  for (std::uint32_t client = 0; client < 8; ++client) {
    for (int n = 0; n < 400; ++n) {
      ASSERT_EQ(Send(Ipv4Address(0x0A0000C8 + client), 68), 0) << client << ", " << n;
    }
  }
  EXPECT_EQ(Send(RingWorld::ClientAddress(0), 68), 0);
  EXPECT_TRUE(world_->ClientReceives(0));
}

TEST_F(UringRingTest, ASourceThatIsNotOursIsAnErrorOfThatSendAlone) {
  // EINVAL or ENETUNREACH, by the kernel's version.
  EXPECT_GT(Send(RingWorld::ClientAddress(0), 68, Ipv4Address(0xC6336401)), 0);
  EXPECT_EQ(Send(RingWorld::ClientAddress(0), 68), 0);
}

TEST_F(UringRingTest, LetsTheKernelChooseASourceThatIsZero) {
  EXPECT_EQ(Send(RingWorld::ClientAddress(0), 68, Ipv4Address()), 0);
  const auto arrived = world_->ClientReceives(0);
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->source, RingWorld::ServerAddress(0));
}

TEST(UringSetup, RefusesMoreThanTheCompletionQueueHolds) {
  UringLimits limits;
  limits.interfaces_max = 64;
  limits.buffers_per_interface = 1024;
  const auto ring = MakeUringRing(limits);
  ASSERT_FALSE(ring.ok());
  EXPECT_THAT(ring.status().message(), HasSubstr("65536"));
}

TEST(UringSetup, HoldsTheDefaultLimits) {
  const auto ring = MakeUringRing(UringLimits{});
  EXPECT_TRUE(ring.ok()) << ring.status();
}

// Makes io_uring_setup fail with `error` in the calling thread, for good.
void ForbidIoUring(std::uint32_t error) {
  std::array<sock_filter, 4> program = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_io_uring_setup},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog filter{program.size(), program.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST(UringSetup, SaysThatASeccompProfileForbidsIt) {
  for (const std::uint32_t error : {EPERM, ENOSYS}) {
    std::thread([error] {
      ForbidIoUring(error);
      const auto ring = MakeUringRing(UringLimits{});
      ASSERT_FALSE(ring.ok());
      EXPECT_THAT(ring.status().message(), HasSubstr("seccomp profile of a container"));
      EXPECT_THAT(ring.status().message(), HasSubstr("io_uring_setup"));
    }).join();
  }
}

TEST(UringSetup, SaysWhatToRaiseWhenResourcesAreShort) {
  EXPECT_THAT(ExplainSetupError(ENOMEM).message(), HasSubstr("RLIMIT_MEMLOCK"));
  EXPECT_THAT(ExplainSetupError(EMFILE).message(), HasSubstr("RLIMIT_NOFILE"));
  EXPECT_THAT(ExplainSetupError(EINVAL).message(), HasSubstr("Linux 6.1 or newer"));
}

}  // namespace
}  // namespace ringdhcp
