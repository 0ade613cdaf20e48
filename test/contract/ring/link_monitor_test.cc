#include "server/io/link_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "test/contract/ring/namespaces.h"

namespace ringdhcp {
namespace {

class LinkMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto monitor = MakeLinkMonitor([this] { OnChange(); });
    ASSERT_TRUE(monitor.ok()) << monitor.status();
    monitor_ = *std::move(monitor);
  }

  void OnChange() {
    std::unique_lock lock(mutex_);
    ++changes_;
    if (!watched_.empty() && !Find(watched_)) ++watched_missing_;
    condition_.notify_all();
    condition_.wait(lock, [this] { return !held_; });
  }
  void Hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    condition_.notify_all();
  }

  std::optional<LinkState> Find(const std::string& name) const {
    for (const LinkState& link : monitor_->Snapshot()) {
      if (link.name == name) return link;
    }
    return std::nullopt;
  }
  /// Waits until `is_so`, a few seconds at most.
  bool Becomes(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    std::unique_lock lock(mutex_);
    while (std::chrono::steady_clock::now() < deadline) {
      lock.unlock();
      if (is_so()) return true;
      lock.lock();
      condition_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return false;
  }
  static std::vector<std::string> Addresses(const std::optional<LinkState>& link) {
    std::vector<std::string> all;
    if (!link) return all;
    for (const LinkState::Address& address : link->addresses) {
      all.push_back(address.address.ToString() + " in " + address.prefix.ToString());
    }
    return all;
  }

  Namespaces namespaces_;
  std::mutex mutex_;
  std::condition_variable condition_;
  int changes_ = 0;
  std::string watched_;  // counts the changes after which this link was not in the list
  int watched_missing_ = 0;
  bool held_ = false;
  std::unique_ptr<LinkMonitor> monitor_;
};

TEST_F(LinkMonitorTest, HasTheFullListFromTheStart) {
  namespaces_.AddVeth("s0", "10.0.0.1/24", "c0", "10.0.0.2/24");
  namespaces_.AddVeth("s1", "10.1.0.1/24", "c1", "10.1.0.2/24");
  const auto fresh = MakeLinkMonitor(nullptr);
  ASSERT_TRUE(fresh.ok());
  const std::vector<LinkState> list = (*fresh)->Snapshot();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(list, {}, &LinkState::ifindex));
  EXPECT_EQ(list[0].name, "lo");
  EXPECT_TRUE(list[0].loopback);
  EXPECT_EQ(list[1].name, "s0");
  EXPECT_FALSE(list[1].loopback);
  EXPECT_TRUE(list[1].up);
  EXPECT_TRUE(list[1].running);
  EXPECT_FALSE(list[1].enslaved);
  EXPECT_EQ(list[1].mtu, 1500U);
  EXPECT_EQ(Addresses(list[2]), (std::vector<std::string>{"10.1.0.1 in 10.1.0.0/24"}));
}

TEST_F(LinkMonitorTest, FollowsCreateRenameAndDelete) {
  const std::uint64_t start = monitor_->generation();
  Namespaces::Run("ip link add s0 type veth peer name s1");
  ASSERT_TRUE(Becomes([this] { return Find("s0") && Find("s1"); }));
  const int ifindex = Find("s0")->ifindex;
  EXPECT_FALSE(Find("s0")->up);
  const std::uint64_t created = monitor_->generation();
  EXPECT_GT(created, start);
  Namespaces::Run("ip link set s0 name lan0");
  ASSERT_TRUE(Becomes([this] { return Find("lan0").has_value(); }));
  EXPECT_FALSE(Find("s0")) << "the old name is gone";
  EXPECT_EQ(Find("lan0")->ifindex, ifindex);
  Namespaces::Run("ip link del lan0");
  ASSERT_TRUE(Becomes([this] { return !Find("lan0") && !Find("s1"); }));
  EXPECT_GT(monitor_->generation(), created);
  const std::lock_guard lock(mutex_);
  EXPECT_GE(changes_, 3);
}

TEST_F(LinkMonitorTest, FollowsUpCarrierAndMtu) {
  Namespaces::Run("ip link add s0 mtu 1400 type veth peer name s1");
  Namespaces::Run("ip link set s0 up");
  ASSERT_TRUE(Becomes([this] { return Find("s0") && Find("s0")->up; }));
  EXPECT_FALSE(Find("s0")->running) << "its peer is down";
  EXPECT_EQ(Find("s0")->mtu, 1400U);
  Namespaces::Run("ip link set s1 up");
  EXPECT_TRUE(Becomes([this] { return Find("s0")->running; }));
}

TEST_F(LinkMonitorTest, KeepsThePrimaryAddressFirst) {
  Namespaces::Run("ip link add s0 type veth peer name s1");
  Namespaces::Run("ip addr add 10.0.0.9/24 dev s0");
  Namespaces::Run("ip addr add 10.0.0.1/24 dev s0");  // secondary: same network, later
  Namespaces::Run("ip addr add 192.168.7.1/30 dev s0");
  EXPECT_TRUE(Becomes([this] {
    return Addresses(Find("s0")) == std::vector<std::string>{"10.0.0.9 in 10.0.0.0/24",
                                                             "192.168.7.1 in 192.168.7.0/30",
                                                             "10.0.0.1 in 10.0.0.0/24"};
  })) << testing::PrintToString(Addresses(Find("s0")));
  // With promotion, the secondary takes the place of the deleted primary.
  Namespaces::Run("sysctl -q -w net.ipv4.conf.s0.promote_secondaries=1");
  Namespaces::Run("ip addr del 10.0.0.9/24 dev s0");
  EXPECT_TRUE(Becomes([this] {
    const auto all = Addresses(Find("s0"));
    return all.size() == 2 && std::ranges::count(all, "10.0.0.1 in 10.0.0.0/24") == 1;
  })) << testing::PrintToString(Addresses(Find("s0")));
  Namespaces::Run("ip addr flush dev s0");
  EXPECT_TRUE(Becomes([this] { return Addresses(Find("s0")).empty(); }));
}

TEST_F(LinkMonitorTest, SeesAPortOfABridgeAsEnslavedAndFreeAgain) {
  Namespaces::Run("ip link add br0 type bridge");
  Namespaces::Run("ip link add s0 type veth peer name s1");
  Namespaces::Run("ip link set s0 master br0");
  ASSERT_TRUE(Becomes([this] { return Find("s0") && Find("s0")->enslaved; }));
  EXPECT_FALSE(Find("br0")->enslaved);
  EXPECT_FALSE(Find("s1")->enslaved);
  // The bridge reports a port that leaves as a deleted link of its own family; the link itself is
  // still there, at every moment.
  {
    const std::lock_guard lock(mutex_);
    watched_ = "s0";
  }
  for (int round = 0; round < 20; ++round) {
    Namespaces::Run("ip link set s0 nomaster");
    ASSERT_TRUE(Becomes([this] { return Find("s0") && !Find("s0")->enslaved; }));
    Namespaces::Run("ip link set s0 master br0");
    ASSERT_TRUE(Becomes([this] { return Find("s0") && Find("s0")->enslaved; }));
  }
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(watched_missing_, 0);
}

// Drops of all rtnetlink sockets in this namespace: the last column but one of /proc/net/netlink.
std::uint64_t NetlinkDrops() {
  std::ifstream file("/proc/thread-self/net/netlink");
  std::string line;
  std::getline(file, line);
  std::uint64_t total = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string skipped;
    int protocol = -1;
    std::uint64_t drops = 0;
    fields >> skipped >> protocol;
    for (int i = 0; i < 6; ++i) fields >> skipped;
    fields >> drops;
    if (protocol == 0) total += drops;
  }
  return total;
}

TEST_F(LinkMonitorTest, ReadsTheListAnewAfterLostMessages) {
  Namespaces::Run("ip link add s0 type veth peer name s1");
  Namespaces::Run("ip link add s2 type veth peer name s3");
  ASSERT_TRUE(Becomes([this] { return Find("s0") && Find("s2"); }));
  Hold(true);
  Namespaces::Run("ip link set s0 mtu 1300");
  const std::string batch = testing::TempDir() + "ringdhcp_link_batch";
  {
    std::ofstream commands(batch);
    for (int n = 0; n < 2500; ++n) commands << "link set s0 mtu " << 1301 + n % 2 << "\n";
    commands << "link del s2\nlink set s0 name lan0\naddr add 10.9.9.9/24 dev lan0\n";
  }
  Namespaces::Run("ip -batch " + batch);
  std::remove(batch.c_str());
  EXPECT_GT(NetlinkDrops(), 0U) << "the test must overrun the monitor's socket";
  Hold(false);
  EXPECT_TRUE(Becomes([this] {
    return Find("lan0") && !Find("s0") && !Find("s2") && !Find("s3") &&
           Addresses(Find("lan0")) == std::vector<std::string>{"10.9.9.9 in 10.9.9.0/24"};
  }));
}

}  // namespace
}  // namespace ringdhcp
