// Whatever the text, the loader neither throws nor hangs, and what it accepts is consistent.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "server/config/loader.h"

namespace ringdhcp {
namespace {

using std::chrono::steady_clock;

std::string ReadExample(const char* name) {
  std::ifstream file(std::string(RINGDHCP_SOURCE_DIR "/deploy/examples/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20; }

void ExpectConsistent(const Subnet& subnet) {
  EXPECT_NE(subnet.id, SubnetId(0));
  EXPECT_LE(subnet.lease_times.min_s, subnet.lease_times.default_s);
  EXPECT_LE(subnet.lease_times.default_s, subnet.lease_times.max_s);
  EXPECT_GE(subnet.lease_times.min_s, 1U);
  EXPECT_GE(subnet.lease_times.t1, 0);
  EXPECT_LT(subnet.lease_times.t1, subnet.lease_times.t2);
  EXPECT_LT(subnet.lease_times.t2, 1);
  EXPECT_EQ(subnet.prefix.address.value & ~subnet.prefix.Mask(), 0U);
  EXPECT_GE(subnet.prefix.length, 8);
  EXPECT_LE(subnet.prefix.length, 30);
  for (std::size_t i = 0; i < subnet.pools.size(); ++i) {
    EXPECT_LE(subnet.pools[i].first, subnet.pools[i].last);
    EXPECT_GT(subnet.pools[i].first, subnet.prefix.address);
    EXPECT_LT(subnet.pools[i].last, subnet.prefix.Broadcast());
    if (i > 0) {
      EXPECT_LT(subnet.pools[i - 1].last, subnet.pools[i].first);
    }
  }
  int code = 0;
  for (const ConfiguredOption& option : subnet.options) {
    EXPECT_GT(int{option.code}, code);
    EXPECT_FALSE(option.value.empty());
    EXPECT_LE(option.value.size(), 255U);
    code = option.code;
  }
}

// Written from the promises of server_config.h and subnet.h, not from the loader.
void ExpectConsistent(const ServerConfig& config) {
  std::set<std::uint32_t> ids;
  for (std::size_t i = 0; i < config.subnets.size(); ++i) {
    ExpectConsistent(config.subnets[i]);
    EXPECT_TRUE(ids.insert(config.subnets[i].id.value).second);
    if (i > 0) {
      EXPECT_LT(config.subnets[i - 1].prefix, config.subnets[i].prefix);
      EXPECT_FALSE(config.subnets[i - 1].prefix.Overlaps(config.subnets[i].prefix));
    }
  }
  EXPECT_FALSE(config.storage_directory.empty());
  EXPECT_TRUE(1 <= config.offer_hold_s && config.offer_hold_s <= 3600);
  EXPECT_TRUE(10 <= config.stale_after_ms && config.stale_after_ms <= 60000);
  EXPECT_TRUE(0 <= config.cache_threshold && config.cache_threshold <= 0.5);
  EXPECT_TRUE(config.http_host.empty() || config.http_port != 0);
}

// Loads and checks what is true of any text. Returns whether it is good.
bool LoadAndCheck(const std::string& text) {
  LoadResult result;
  EXPECT_NO_THROW(result = LoadConfigText(text, "f"));
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  int line = 0;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    EXPECT_GE(diagnostic.line, line);
    EXPECT_LE(diagnostic.line, lines) << diagnostic.ToString();
    line = diagnostic.line;
    const std::string shown = diagnostic.ToString();
    EXPECT_TRUE(std::none_of(shown.begin(), shown.end(), IsControl)) << shown;
    EXPECT_FALSE(diagnostic.message.empty());
  }
  if (result.ok()) ExpectConsistent(result.config);
  return result.ok();
}

// Pieces that the loader treats in a way of their own.
constexpr const char* kTokens[] = {": ",
                                   "- ",
                                   "\n",
                                   "\n  ",
                                   "{",
                                   "}",
                                   "[",
                                   "]",
                                   ",",
                                   "\"",
                                   "'",
                                   "&a ",
                                   "*a",
                                   "<<: ",
                                   "~",
                                   "!!str ",
                                   "|\n",
                                   "#",
                                   "---\n",
                                   "\t",
                                   "0",
                                   "-1",
                                   "4294967295",
                                   "1e9",
                                   "0.5",
                                   "nan",
                                   "true",
                                   "192.0.2.5",
                                   "192.0.2.0/24",
                                   "10.0.0.0/8",
                                   "192.0.2.5-192.0.2.9",
                                   "id",
                                   "subnets",
                                   "pools",
                                   "options",
                                   "*",
                                   "\xC3",
                                   "\xFF",
                                   "\r",
                                   "%",
                                   "? ",
                                   "@",
                                   "\\x",
                                   "/",
                                   "lease_times",
                                   "min",
                                   "max"};

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) { return random_() % bound; }

  std::string Mutate(std::string text) {
    for (std::size_t edits = 1 + Below(4); edits > 0; --edits) {
      const std::size_t at = Below(text.size() + 1);
      const std::size_t length = std::min(Below(12), text.size() - at);
      switch (Below(5)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, kTokens[Below(std::size(kTokens))]);
          break;
        case 2:
          text.replace(at, length, kTokens[Below(std::size(kTokens))]);
          break;
        case 3:
          text.insert(Below(text.size() + 1), text.substr(at, Below(80)));
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random_());
      }
    }
    return text;
  }

  std::string Random(std::size_t pieces) {
    std::string text;
    while (pieces-- > 0) {
      text += Below(4) == 0 ? std::string(1, static_cast<char>(random_()))
                            : kTokens[Below(std::size(kTokens))];
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

constexpr auto kTimeMax = std::chrono::milliseconds(2500);

TEST(HostileInputTest, MutatedExamples) {
  Mutator mutator(1);
  const std::string good = ReadExample("ringdhcp.yaml");
  const std::string bad = ReadExample("five-mistakes.yaml");
  ASSERT_TRUE(LoadAndCheck(good));
  ASSERT_FALSE(LoadAndCheck(bad));
  const auto end = steady_clock::now() + kTimeMax;
  int accepted = 0, rejected = 0;
  for (int i = 0; i < 3000 && steady_clock::now() < end; ++i) {
    const std::string text = mutator.Mutate(i % 4 == 0 ? bad : good);
    SCOPED_TRACE(text);
    ++(LoadAndCheck(text) ? accepted : rejected);
    if (HasFailure()) break;
  }
  // Both outcomes occur, or the mutations test nothing.
  EXPECT_GT(accepted, 10);
  EXPECT_GT(rejected, 10);
}

TEST(HostileInputTest, RandomText) {
  Mutator mutator(2);
  const auto end = steady_clock::now() + kTimeMax;
  int tried = 0;
  for (; tried < 5000 && steady_clock::now() < end; ++tried) {
    const std::string text = mutator.Random(1 + mutator.Below(40));
    SCOPED_TRACE(text);
    LoadAndCheck(text);
    if (HasFailure()) break;
  }
  EXPECT_GT(tried, 100);
}

TEST(HostileInputTest, EveryPrefixOfTheExample) {
  const std::string good = ReadExample("ringdhcp.yaml");
  for (std::size_t length = 0; length < good.size(); length += 7) {
    LoadAndCheck(good.substr(0, length));
  }
}

std::string Repeat(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

// Each level names the one before ten times: 10^9 values if they were copied.
std::string AliasBomb() {
  std::string text = "x0: &x0 [a, a]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string alias = "*x" + std::to_string(i - 1) + ", ";
    text += 'x' + std::to_string(i) + ": &x" + std::to_string(i) + " [" + Repeat(alias, 10) + "]\n";
  }
  return text;
}

// A list of subnets in which every one is the same large node.
std::string AliasedSubnets() {
  return "options: {routers: &r [" + Repeat("192.0.2.1, ", 3000) + "]}\nsubnets: [" +
         Repeat("{id: 1, options: {routers: *r}}, ", 3000) + "]\n";
}

std::string ManySubnets(int count) {
  std::string text = "subnets:\n";
  for (int i = 0; i < count; ++i) {
    const std::string base = "10." + std::to_string(i / 256) + '.' + std::to_string(i % 256) + '.';
    text += "- {id: " + std::to_string(i + 1) + ", prefix: " + base + "0/24, pools: [" + base +
            "9-" + base + "99]}\n";
  }
  return text;
}

TEST(HostileInputTest, LargeAndDeepTextsTakeBoundedTime) {
  struct Case {
    const char* name;
    std::string text;
    bool good;
  };
  const Case kCases[] = {
      {"nested lists", Repeat("[", 100000), false},
      {"nested maps", Repeat("{a: ", 100000), false},
      {"nested blocks", Repeat("- ", 20000), false},
      {"unknown keys", Repeat("bogus: 1\n", 20000), false},
      {"one long key", Repeat("k", 1 << 20) + ": 1\n", false},
      {"one long value", "durability: " + Repeat("v", 1 << 20) + "\n", false},
      {"overlapping pools",
       "subnets: [{id: 1, prefix: 10.0.0.0/8, options: {routers: 10.0.0.9}, pools: [" +
           Repeat("10.0.0.1-10.0.0.99, ", 5000) + "]}]",
       false},
      {"equal subnets", "subnets: [" + Repeat("{id: 1, prefix: 10.0.0.0/8}, ", 4000) + "]", false},
      {"alias bomb", AliasBomb(), false},
      {"aliased subnets", AliasedSubnets(), false},
      {"a list in itself", "subnets: &s [*s, {id: 1, options: *s}]\n", false},
      {"many subnets", ManySubnets(5000), true},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    // Time of the processor, so that a busy machine fails nothing.
    const std::clock_t start = std::clock();
    EXPECT_EQ(LoadAndCheck(c.text), c.good);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 5);
  }
}

TEST(HostileInputTest, AliasesMayShareABlockButNotGrowWithoutBound) {
  std::string text = "subnets:\n- {id: 1, prefix: 10.0.0.0/24, options: &o {routers: [";
  text += Repeat("10.0.0.1, ", 50) + "]}}\n";
  const auto with_subnets = [&text](int count) {
    std::string all = text;
    for (int i = 1; i < count; ++i) {
      all += "- {id: " + std::to_string(i + 1) + ", prefix: 10." + std::to_string(i / 256) + '.' +
             std::to_string(i % 256) + ".0/24, options: *o}\n";
    }
    return all;
  };
  EXPECT_TRUE(LoadConfigText(with_subnets(1000), "f").ok());
  const LoadResult result = LoadConfigText(with_subnets(6000), "f");
  EXPECT_FALSE(result.ok());
  const bool named = std::any_of(
      result.diagnostics.begin(), result.diagnostics.end(),
      [](const Diagnostic& d) { return d.message.find("too many values") != std::string::npos; });
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace ringdhcp
