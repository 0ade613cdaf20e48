// The section storage.postgresql and durability postgresql.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/loader.h"

namespace ringdhcp {
namespace {

using testing::HasSubstr;

LoadResult Loaded(const std::string& more) {
  return LoadConfigText(
      "subnets:\n- {id: 1, prefix: 192.0.2.0/24, pools: [192.0.2.9-192.0.2.20], interface: a}\n" +
          more,
      "test.yaml");
}

std::string FirstError(const LoadResult& result) {
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (diagnostic.severity == Severity::kError) return diagnostic.ToString();
  }
  return "";
}

TEST(PostgresqlConfigTest, AbsentItIsOff) {
  const LoadResult result = Loaded("");
  ASSERT_TRUE(result.ok()) << FirstError(result);
  EXPECT_FALSE(result.config.postgresql.has_value());
}

TEST(PostgresqlConfigTest, DefaultsAreThoseOfTheProto) {
  const LoadResult result = Loaded("storage: {postgresql: {connection: 'service=dhcp'}}\n");
  ASSERT_TRUE(result.ok()) << FirstError(result);
  ASSERT_TRUE(result.config.postgresql.has_value());
  const PostgresqlConfig& section = *result.config.postgresql;
  EXPECT_EQ(section.connection, "service=dhcp");
  EXPECT_EQ(section.server_id, "");
  EXPECT_TRUE(section.migrate);
  EXPECT_EQ(section.connect_timeout_s, 3U);
  EXPECT_EQ(section.statement_timeout_s, 10U);
  EXPECT_EQ(section.batch_rows_max, 1024U);
  EXPECT_EQ(section.outbox_rows_max, 5'000'000U);
  EXPECT_EQ(section.history_days, 0U);
  EXPECT_EQ(result.config.durability, Durability::kLocal);
}

TEST(PostgresqlConfigTest, TakesEveryField) {
  const LoadResult result = Loaded(
      "durability: postgresql\n"
      "storage: {postgresql: {connection: '', server_id: a.B-3_x, migrate: false,\n"
      "  connect_timeout: 2, statement_timeout: 600, batch_rows_max: 64,\n"
      "  outbox_rows_max: 100000, history_days: 90}}\n");
  ASSERT_TRUE(result.ok()) << FirstError(result);
  const PostgresqlConfig& section = *result.config.postgresql;
  EXPECT_EQ(section.server_id, "a.B-3_x");
  EXPECT_FALSE(section.migrate);
  EXPECT_EQ(section.connect_timeout_s, 2U);
  EXPECT_EQ(section.statement_timeout_s, 600U);
  EXPECT_EQ(section.batch_rows_max, 64U);
  EXPECT_EQ(section.outbox_rows_max, 100'000U);
  EXPECT_EQ(section.history_days, 90U);
  EXPECT_EQ(result.config.durability, Durability::kPostgresql);
}

struct Mistake {
  const char* name;
  const char* yaml;
  const char* error;
};

class PostgresqlMistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(PostgresqlMistakeTest, IsNamed) {
  const LoadResult result = Loaded(GetParam().yaml);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(FirstError(result), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, PostgresqlMistakeTest,
    testing::Values(
        Mistake{"DurabilityWithoutSection", "durability: postgresql\n",
                "test.yaml:3:13: error: durability: 'postgresql' needs the section"},
        Mistake{"MemoryStorage", "storage: {type: memory, postgresql: {connection: a}}\n",
                "storage.postgresql: needs storage type local"},
        Mistake{"EmptyServerId", "storage: {postgresql: {server_id: ''}}\n",
                "storage.postgresql.server_id: must be 1-63 letters"},
        Mistake{"ServerIdWithSpace", "storage: {postgresql: {server_id: 'a b'}}\n",
                "must be 1-63 letters"},
        Mistake{"ConnectTimeoutThatLibpqRaises", "storage: {postgresql: {connect_timeout: 1}}\n",
                "storage.postgresql.connect_timeout: "},
        Mistake{"SmallOutbox", "storage: {postgresql: {outbox_rows_max: 99999}}\n",
                "storage.postgresql.outbox_rows_max: "},
        Mistake{"UnknownField", "storage: {postgresql: {host: db}}\n", "unknown field"}),
    [](const testing::TestParamInfo<Mistake>& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ringdhcp
