#ifndef RINGDHCP_TEST_UNIT_LEASE_ENGINE_FIXTURE_H_
#define RINGDHCP_TEST_UNIT_LEASE_ENGINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "server/lease/lease_engine.h"
#include "test/support/client_message.h"

namespace ringdhcp::test {

/// A subnet of one pool; lifetime 600 s, clients may ask for 60 to 3600.
Subnet MakeSubnet(std::uint32_t id, std::string_view prefix, std::string_view first,
                  std::string_view last);

/// An engine with a link, a clock and a store. The link is 192.0.2.1/24 on "lan0"; subnet N
/// (192.0.2.0/24) has the pool .10-.19, subnet R (198.51.100.0/24, reached through the relay
/// 198.51.100.1) has .10-.19. Change `config` before the first message. Rows become durable at once
/// unless `hold_commits`.
class EngineFixture : public testing::Test {
 protected:
  EngineFixture();

  /// The engine, made on first use.
  LeaseEngine& engine();
  /// A new engine that loads what is durable: the old one is gone, as after kill -9.
  void Crash();
  /// Makes N's pool the last octets `first` to `last`.
  void PoolOfN(int first, int last);

  Decision Handle(const Message& message);
  Decision Discover(std::uint32_t client);
  /// SELECTING.
  Decision Select(std::uint32_t client, Ipv4Address address);
  /// Without options 50 and 54.
  Decision Renew(std::uint32_t client, Ipv4Address ciaddr);
  Decision Reboot(std::uint32_t client, Ipv4Address address);
  Decision Release(std::uint32_t client, Ipv4Address address);
  Decision Decline(std::uint32_t client, Ipv4Address address);
  /// DISCOVER, REQUEST; the address acknowledged. Fails the test when there is none.
  Ipv4Address Acquire(std::uint32_t client);

  /// Both clocks go on, and the engine ticks.
  void Advance(double seconds);
  /// All queued rows become durable.
  void Commit();
  SubnetCounts CountsOf(std::uint32_t subnet_id);

  EngineConfig config;
  LinkView link;
  std::vector<Ipv4Address> host_addresses;
  Now now{.monotonic_ns = 5'000'000'000'000, .wall_s = 1'700'000'000};
  bool store_ok = true;
  bool hold_commits = false;
  std::map<Ipv4Address, LeaseRecord> stored;  // durable rows
  std::vector<LeaseRecord> queued;
  CommitSeq last_queued;

 private:
  std::unique_ptr<LeaseEngine> engine_;
};

testing::AssertionResult IsOffer(const Decision& decision, std::string_view address);
testing::AssertionResult IsAck(const Decision& decision, std::string_view address);
testing::AssertionResult IsNak(const Decision& decision);
testing::AssertionResult IsDrop(const Decision& decision, DropReason reason);

inline constexpr Ipv4Address kServer{0xC0000201};    // 192.0.2.1
inline constexpr Ipv4Address kRelayOfR{0xC6336401};  // 198.51.100.1
constexpr Ipv4Address InN(std::uint32_t host) { return Ipv4Address(0xC0000200 + host); }
constexpr Ipv4Address InR(std::uint32_t host) { return Ipv4Address(0xC6336400 + host); }

}  // namespace ringdhcp::test

#endif  // RINGDHCP_TEST_UNIT_LEASE_ENGINE_FIXTURE_H_
