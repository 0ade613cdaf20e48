// The parts of the engine one by one: table, allocator, client index, client details.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "server/base/prng.h"
#include "server/lease/address_allocator.h"
#include "server/lease/client_details.h"
#include "server/lease/client_index.h"
#include "server/lease/lease_engine.h"
#include "server/lease/lease_table.h"
#include "test/support/client_message.h"

namespace ringdhcp::test {
namespace {

Subnet PoolsIn(std::string_view prefix,
               std::vector<std::pair<std::string_view, std::string_view>> pools) {
  Subnet subnet;
  subnet.prefix = Prefix(prefix);
  for (const auto& [first, last] : pools) subnet.pools.push_back({Address(first), Address(last)});
  return subnet;
}

TEST(LeaseTableTest, IndexesFollowThePools) {
  const std::vector<Subnet> subnets = {
      PoolsIn("10.0.0.0/24", {{"10.0.0.10", "10.0.0.19"}, {"10.0.0.30", "10.0.0.30"}}),
      PoolsIn("10.0.1.0/24", {}), PoolsIn("10.0.2.0/24", {{"10.0.2.0", "10.0.2.255"}})};
  const LeaseTable table(subnets);
  EXPECT_EQ(table.size(), 267U);
  EXPECT_EQ(table.Find(Address("10.0.0.10")), 0U);
  EXPECT_EQ(table.Find(Address("10.0.0.19")), 9U);
  EXPECT_EQ(table.Find(Address("10.0.0.30")), 10U);
  EXPECT_EQ(table.Find(Address("10.0.2.1")), 12U);
  for (const char* outside :
       {"0.0.0.0", "10.0.0.9", "10.0.0.20", "10.0.0.29", "10.0.0.31", "10.0.1.1", "10.0.2.0",
        "10.0.2.255", "10.0.3.0", "255.255.255.255"}) {
    EXPECT_EQ(table.Find(Address(outside)), kNoLease) << outside;
  }
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.SubnetOf(i), i < 11 ? 0U : 2U);
    const bool reserved = std::ranges::count(table.reserved(), i) != 0;
    EXPECT_EQ(table.Find(table.AddressOf(i)), reserved ? kNoLease : i);
  }
  EXPECT_EQ(table.RangeOf(1).begin, table.RangeOf(1).end);
}

TEST(LeaseTableTest, PointToPointNetworksHaveNoNetworkOrBroadcastAddress) {  // RFC 3021
  const std::vector<Subnet> subnets = {PoolsIn("10.0.0.0/31", {{"10.0.0.0", "10.0.0.1"}}),
                                       PoolsIn("10.0.0.4/30", {{"10.0.0.4", "10.0.0.7"}}),
                                       PoolsIn("10.0.0.8/32", {{"10.0.0.8", "10.0.0.8"}})};
  const LeaseTable table(subnets);
  EXPECT_EQ(table.Find(Address("10.0.0.0")), 0U);
  EXPECT_EQ(table.Find(Address("10.0.0.1")), 1U);
  EXPECT_EQ(table.Find(Address("10.0.0.4")), kNoLease);
  EXPECT_EQ(table.Find(Address("10.0.0.5")), 3U);
  EXPECT_EQ(table.Find(Address("10.0.0.7")), kNoLease);
  EXPECT_EQ(table.Find(Address("10.0.0.8")), 6U);
}

TEST(AddressAllocatorTest, EveryAddressOnceInPoolOrderThenTheLeastRecentlyUsed) {
  const std::vector<Subnet> subnets = {
      PoolsIn("10.0.0.0/23", {{"10.0.0.0", "10.0.0.99"}, {"10.0.1.100", "10.0.1.255"}}),
      PoolsIn("10.0.2.0/24", {{"10.0.2.1", "10.0.2.3"}})};
  LeaseTable table(subnets);
  AddressAllocator allocator(table, subnets.size());
  allocator.Take(5);
  allocator.Take(64);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i; (i = allocator.TakeNext(0, {})) != kNoLease;) order.push_back(i);
  EXPECT_EQ(order.size(), 256U - 2 - 2) << "less two taken, the network and broadcast address";
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(table[order.front()].address, Address("10.0.0.1"));
  EXPECT_EQ(allocator.TakeNext(1, {}), 256U) << "the other subnet is not touched";
  for (const std::uint32_t i : {9U, 7U, 5U, 8U}) allocator.Return(i);
  allocator.Take(5);
  EXPECT_EQ(allocator.TakeNext(0, {}), 9U);
  EXPECT_EQ(allocator.TakeNext(0, {}), 7U);
  EXPECT_EQ(allocator.TakeNext(0, {}), 8U);
  EXPECT_EQ(allocator.TakeNext(0, {}), kNoLease);
}

TEST(AddressAllocatorTest, ExcludedAddressesStayFree) {
  const std::vector<Subnet> subnets = {PoolsIn("10.0.0.0/24", {{"10.0.0.1", "10.0.0.4"}})};
  LeaseTable table(subnets);
  AddressAllocator allocator(table, 1);
  const std::vector<Ipv4Address> excluded = {Address("10.0.0.1"), Address("10.0.0.3")};
  EXPECT_EQ(allocator.TakeNext(0, excluded), 1U);
  EXPECT_EQ(allocator.TakeNext(0, excluded), 3U);
  EXPECT_EQ(allocator.TakeNext(0, excluded), kNoLease);
  // They are free again once they are not ours any more.
  const std::uint32_t one = allocator.TakeNext(0, {});
  const std::uint32_t other = allocator.TakeNext(0, {});
  EXPECT_EQ(std::min(one, other), 0U);
  EXPECT_EQ(std::max(one, other), 2U);
}

TEST(ClientIndexTest, AgreesWithAMapWhenFull) {
  const std::vector<Subnet> subnets = {PoolsIn("10.0.0.0/24", {{"10.0.0.1", "10.0.0.100"}}),
                                       PoolsIn("10.0.1.0/24", {{"10.0.1.1", "10.0.1.100"}})};
  LeaseTable table(subnets);
  AddressAllocator allocator(table, 2);
  for (std::uint32_t i = 0; i < table.size(); ++i) allocator.Take(i);
  ClientIndex index(table, 3);
  Prng prng(4);
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint32_t> model;
  std::vector<std::uint8_t> holder(table.size(), 0);
  const auto key = [](std::uint8_t client) {
    const std::uint8_t octets[] = {client, 1};
    return ClientKey::FromClientId(octets);
  };
  for (int step = 0; step < 100'000; ++step) {
    const auto i = static_cast<std::uint32_t>(prng.Below(table.size()));
    if (holder[i] != 0) {
      // Rarely, so that the index is mostly full.
      if (prng.Below(4) != 0) continue;
      index.Erase(i);
      model.erase({table[i].subnet, holder[i]});
      holder[i] = 0;
    } else {
      const auto client = static_cast<std::uint8_t>(1 + prng.Below(120));
      if (model.contains({table[i].subnet, client})) continue;
      table[i].client = key(client);
      holder[i] = client;
      model[{table[i].subnet, client}] = i;
      index.Insert(i);
    }
    ASSERT_EQ(index.size(), model.size());
    const auto subnet = static_cast<std::uint32_t>(prng.Below(2));
    const auto wanted = static_cast<std::uint8_t>(1 + prng.Below(120));
    const auto found = model.find({subnet, wanted});
    ASSERT_EQ(index.Find(key(wanted), subnet), found == model.end() ? kNoLease : found->second);
  }
  for (const auto& [at, i] : model) EXPECT_EQ(index.Find(key(at.second), at.first), i);
}

std::vector<std::uint8_t> Octets(std::size_t size, std::uint8_t first) {
  std::vector<std::uint8_t> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(first + i);
  return octets;
}

TEST(ClientDetailsTest, KeepsAnyTwoLengths) {
  ClientDetails details(100);
  const std::size_t all = details.free_chunks();
  std::uint32_t handle = 0;
  for (const std::size_t name : {0U, 1U, 25U, 26U, 27U, 54U, 255U}) {
    for (const std::size_t relay : {0U, 1U, 26U, 28U, 255U}) {
      const auto a = Octets(name, 3);
      const auto b = Octets(relay, 200);
      handle = details.Set(handle, {a, b});
      EXPECT_EQ(handle == 0, name + relay == 0);
      EXPECT_TRUE(details.Equals(handle, {a, b}));
      EXPECT_FALSE(details.Equals(handle, {Octets(name + 1, 3), b}) && name < 255);
      LeaseRecord record;
      details.CopyTo(handle, record);
      EXPECT_TRUE(std::ranges::equal(record.HostName(), a));
      EXPECT_TRUE(std::ranges::equal(record.RelayInformation(), b));
    }
  }
  details.Free(handle);
  EXPECT_EQ(details.free_chunks(), all);
}

TEST(ClientDetailsTest, WhatIsTooLongIsCut) {
  ClientDetails details(10);
  const auto name = Octets(300, 0);
  const std::uint32_t handle = details.Set(0, {name, {}});
  LeaseRecord record;
  details.CopyTo(handle, record);
  EXPECT_TRUE(std::ranges::equal(record.HostName(), std::span(name).first(255)));
  EXPECT_TRUE(details.Equals(handle, {name, {}}));
}

TEST(ClientDetailsTest, AFullStoreForgetsNamesFirst) {
  ClientDetails details(0);  // 64 chunks of 28 octets
  const auto long_text = Octets(255, 0);
  std::vector<std::uint32_t> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(details.Set(0, {long_text, long_text}));
  // 57 chunks are taken; what is left takes one part, not two.
  const auto relay = Octets(190, 0);
  const std::uint32_t last = details.Set(0, {long_text, relay});
  LeaseRecord record;
  details.CopyTo(last, record);
  EXPECT_EQ(record.host_name_length, 0);
  EXPECT_EQ(record.relay_information_length, 190);
  EXPECT_EQ(details.Set(0, {long_text, long_text}), 0U);
  details.Free(last);
  for (const std::uint32_t handle : handles) details.Free(handle);
  EXPECT_EQ(details.free_chunks(), 64U);
}

TEST(LeaseEngineTest, AMillionAddressesAreReadyAtOnce) {
  EngineConfig config;
  config.subnets = {PoolsIn("10.0.0.0/12", {{"10.0.0.0", "10.15.255.255"}})};
  const auto start = std::chrono::steady_clock::now();
  const LeaseEngine engine(std::move(config), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(engine.Counts()[0].total, (std::uint64_t{1} << 20) - 2);
}

}  // namespace
}  // namespace ringdhcp::test
