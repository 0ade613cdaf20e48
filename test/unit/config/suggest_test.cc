#include "server/config/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace ringdhcp {
namespace {

TEST(SuggestTest, EditDistanceCountsEdits) {
  struct Case {
    const char *a, *b;
    std::size_t distance;
  };
  const Case kCases[] = {
      {"", "", 0},           {"", "abc", 3},
      {"abc", "", 3},        {"pool", "pool", 0},
      {"pool", "pools", 1},  {"poools", "pools", 1},
      {"pxols", "pools", 1}, {"polos", "pools", 1},  // two neighbours swapped
      {"POOLS", "pools", 0}, {"lease-times", "lease_times", 0},
      {"abc", "xyz", 3},     {"ca", "abc", 3},  // a swapped pair is not edited again
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(EditDistance(c.a, c.b), c.distance) << c.a << ' ' << c.b;
    EXPECT_EQ(EditDistance(c.b, c.a), c.distance) << c.b << ' ' << c.a;
  }
}

TEST(SuggestTest, ClosestIsNearOrNothing) {
  constexpr std::array<std::string_view, 4> kNames = {"min", "max", "pools", "prefix"};
  EXPECT_EQ(Closest("mix", kNames), "min");  // of equally near ones the first
  EXPECT_EQ(Closest("maxx", kNames), "max");
  EXPECT_EQ(Closest("prefx", kNames), "prefix");
  EXPECT_EQ(Closest("interface", kNames), "");
  EXPECT_EQ(Closest("", kNames), "");
  EXPECT_EQ(Closest("x", kNames), "");
  EXPECT_EQ(Closest(std::string(1000, 'm'), kNames), "");
  EXPECT_EQ(SuggestOneOf("poolz", kNames), "did you mean 'pools'?");
  EXPECT_EQ(SuggestOneOf("zzz", kNames), "one of: min, max, pools, prefix");
}

TEST(SuggestTest, PrintableCutsAndCleans) {
  EXPECT_EQ(Quote("local"), "'local'");
  EXPECT_EQ(Quote(""), "''");
  EXPECT_EQ(Quote(std::string_view("a\n\x7f\0b", 5)), "'a???b'");
  EXPECT_EQ(Printable(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(Printable(std::string(61, 'x')), std::string(60, 'x') + "...");
  // A character of two octets is kept or dropped as a whole.
  EXPECT_EQ(Printable("abc\xC3\xA9xyz", 4), "abc...");
}

}  // namespace
}  // namespace ringdhcp
