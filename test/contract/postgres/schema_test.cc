// The schema, its migrations, and what a row becomes in it.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/prng.h"
#include "storage/postgres/connection_string.h"
#include "storage/postgres/migrations.h"
#include "storage/postgres/row_text.h"
#include "test/contract/postgres/postgres_support.h"

namespace ringdhcp {
namespace {

using testing::HasSubstr;

class SchemaTest : public testing::Test {
 protected:
  // One cluster for all of them; each begins without a schema.
  static void SetUpTestSuite() { shared_ = std::make_unique<Cluster>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { cluster_.Query("DROP SCHEMA IF EXISTS ringdhcp CASCADE"); }

  std::unique_ptr<PostgresSession> Writer(const PostgresOptions& options) {
    auto session = OpenSession(options, guard_);
    if (session == nullptr) return nullptr;
    EXPECT_TRUE(session->TakeServer({RandomUuid(), 0}).ok());
    const absl::Status maintained = session->Maintain();
    EXPECT_TRUE(maintained.ok()) << maintained;
    EXPECT_TRUE(session->PrepareWrite().ok());
    return session;
  }
  static void Write(PostgresSession& session, const std::vector<LeaseRecord>& rows) {
    std::vector<const LeaseRecord*> pointers;
    for (const LeaseRecord& row : rows) pointers.push_back(&row);
    const absl::Status written = session.Write(pointers, 1);
    ASSERT_TRUE(written.ok()) << written;
  }

  static std::unique_ptr<Cluster> shared_;
  Cluster& cluster_ = *shared_;
  SocketGuard guard_;
  PostgresOptions options_ = TestOptions(cluster_.connection());
};

std::unique_ptr<Cluster> SchemaTest::shared_;

TEST_F(SchemaTest, MigratesOnceHoweverManyTryAtATime) {
  std::vector<std::thread> threads;
  std::atomic<int> applied = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      SocketGuard guard;
      auto session = PostgresSession::Connect(options_, guard);
      ASSERT_TRUE(session.ok()) << session.status();
      const auto steps = (*session)->Migrate();
      ASSERT_TRUE(steps.ok()) << steps.status();
      applied += *steps;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, NewestSchema());
  auto session = OpenSession(options_, guard_);
  const auto status = session->MigrationStatus();
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(status->size(), Migrations().size());
  for (const AppliedMigration& step : *status) EXPECT_NE(step.applied, "") << step.name;
}

TEST_F(SchemaTest, IsMadeForPeopleAndForHotUpdates) {
  ASSERT_NE(OpenSession(options_, guard_), nullptr);
  EXPECT_EQ(
      cluster_.Query("SELECT string_agg(c.relname || '.' || a.attname, ', ') FROM pg_class c "
                     "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
                     "WHERE c.relnamespace = 'ringdhcp'::regnamespace AND c.relkind IN ('r', 'p') "
                     "AND col_description(c.oid, a.attnum) IS NULL"),
      "")
      << "columns without a comment";
  EXPECT_EQ(cluster_.Query("SELECT string_agg(indexdef, '; ') FROM pg_indexes "
                           "WHERE schemaname = 'ringdhcp' AND tablename = 'leases'"),
            "CREATE UNIQUE INDEX leases_pkey ON ringdhcp.leases USING btree (address)");
  EXPECT_THAT(cluster_.Query("SELECT array_to_string(reloptions, ',') FROM pg_class "
                             "WHERE oid = 'ringdhcp.leases'::regclass"),
              HasSubstr("fillfactor=60"));
}

TEST_F(SchemaTest, RefusesANewerOneAndNamesBothVersions) {
  ASSERT_NE(OpenSession(options_, guard_), nullptr);
  cluster_.Query("INSERT INTO ringdhcp.schema_migrations VALUES (1000, 'later', now(), 'test')");
  auto session = PostgresSession::Connect(options_, guard_);
  ASSERT_TRUE(session.ok());
  const absl::Status status = (*session)->CheckSchema();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 1000"));
  EXPECT_EQ((*session)->MigrationStatus()->back().name, "later");
}

TEST_F(SchemaTest, WithoutMigrateAMissingOneIsRefusedWithTheCommand) {
  options_.migrate = false;
  auto session = PostgresSession::Connect(options_, guard_);
  ASSERT_TRUE(session.ok());
  const absl::Status status = (*session)->CheckSchema();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ringdhcp db migrate"));
}

TEST_F(SchemaTest, KeepsEveryFieldOfEveryRow) {
  using std::string_literals::operator""s;
  const auto session = Writer(options_);
  Prng prng(3);
  RowMap expected;
  std::vector<LeaseRecord> rows;
  for (std::uint32_t i = 0; i < 500; ++i) {
    const std::uint32_t address = i < 2 ? (i == 0 ? 0 : 0xFFFFFFFF) : 0x0A000000 + i;
    rows.push_back(RandomRow(prng, address, prng.Next() >> 1));
    // Times beyond the year 9999 are shown as the end of it, or as infinity.
    rows.back().starts_wall_s &= 0xFFFFFFFF;
    if (rows.back().expires_wall_s != kNeverExpires) rows.back().expires_wall_s &= 0xFFFFFFFF;
  }
  for (const std::string& name : {"\n"s, "\0"s, "\xFF"s, "a\0b\n\xFF\xFE'\";--\r\t\\,{}"s, "NULL"s,
                                  "\xC3\x28 not UTF-8"s, std::string(255, '\0'), "\\012"s}) {
    rows.push_back(SmallRow(0x0B000000 + static_cast<std::uint32_t>(rows.size()), 1));
    SetHostName(rows.back(), name);
  }
  LeaseRecord empty;
  empty.address = Ipv4Address(7);
  empty.state = LeaseState::kDeclined;
  empty.starts_wall_s = -1;
  rows.push_back(empty);
  for (const LeaseRecord& row : rows) expected.emplace(row.address.value, row);
  Write(*session, rows);
  ExpectSameRows(LoadTable(cluster_.connection()), expected);
}

TEST_F(SchemaTest, ShowsARowAsPeopleReadIt) {
  const auto session = Writer(options_);
  LeaseRecord row = SmallRow(0x0A000001, 4);
  SetHostName(row, "caf\xC3\xA9\\x");
  const std::string relay(
      "\x01\x06"
      "eth0/1\x02\x02\x00\xFF",
      12);
  std::copy(relay.begin(), relay.end(), row.relay_information.begin());
  row.relay_information_length = static_cast<std::uint8_t>(relay.size());
  row.expires_wall_s = kNeverExpires;
  Write(*session, {row});
  EXPECT_EQ(cluster_.Query("SELECT concat_ws(' ', address, subnet_id, state, hardware_type, "
                           "hardware_address, hostname, circuit_id, remote_id, client_id IS NULL, "
                           "starts AT TIME ZONE 'UTC', expires, version, server_id) "
                           "FROM ringdhcp.active_leases"),
            R"(10.0.0.1 1 bound 1 00:00:0a:00:00:01 caf\303\251\\x eth0/1 \000\377 t )"
            R"(2023-11-14 22:13:20 infinity 4 one)");
  EXPECT_EQ(cluster_.Query("SELECT concat_ws(' ', prefix, pool_addresses, bound, declined, free) "
                           "FROM ringdhcp.subnet_utilisation"),
            "10.0.0.0/8 1000 1 0 999");
}

TEST_F(SchemaTest, TheLargerVersionStays) {
  const auto session = Writer(options_);
  Write(*session, {SmallRow(1, 5), SmallRow(2, 5), SmallRow(3, 5)});
  Write(*session, {SmallRow(1, 6), SmallRow(2, 4), SmallRow(3, 5)});
  ExpectSameRows(LoadTable(cluster_.connection()),
                 {{1, SmallRow(1, 6)}, {2, SmallRow(2, 5)}, {3, SmallRow(3, 5)}});
}

TEST_F(SchemaTest, HistoryTellsWhoHeldAnAddressAndForgetsAfterTheRetention) {
  options_.history_days = 30;
  const auto session = Writer(options_);
  LeaseRecord row = SmallRow(0x0A000001, 1);
  Write(*session, {row});
  Write(*session, {row});  // sent again: no second entry
  row.version = 2;
  row.starts_wall_s += 86400;
  row.expires_wall_s += 86400;
  row.chaddr[0] = 0xAA;
  Write(*session, {row});
  EXPECT_EQ(cluster_.Query("SELECT count(*) FROM ringdhcp.lease_history"), "2");
  const auto holder = [&](const char* seconds) {
    return cluster_.Query(std::string("SELECT hardware_address FROM ringdhcp.holder('10.0.0.1', "
                                      "to_timestamp(") +
                          seconds + "))");
  };
  EXPECT_EQ(holder("1700000100"), "00:00:0a:00:00:01");
  EXPECT_EQ(holder("1700086500"), "aa:00:0a:00:00:01");
  EXPECT_EQ(holder("1700050000"), "") << "the first lease had ended";
  cluster_.Query(
      "CREATE TABLE ringdhcp.lease_history_20200101 PARTITION OF ringdhcp.lease_history "
      "FOR VALUES FROM ('2020-01-01 00:00:00+00') TO ('2020-01-02 00:00:00+00')");
  ASSERT_TRUE(session->Maintain().ok());
  EXPECT_EQ(cluster_.Query("SELECT count(*) FROM pg_inherits WHERE inhparent = "
                           "'ringdhcp.lease_history'::regclass"),
            "4");
  EXPECT_EQ(cluster_.Query("SELECT to_regclass('ringdhcp.lease_history_20200101')"), "");
}

TEST_F(SchemaTest, ASecondServerOfTheSameIdIsRefusedByName) {
  const auto first = Writer(options_);
  SocketGuard guard;
  const auto second = OpenSession(options_, guard);
  const absl::Status status = second->TakeServer({RandomUuid(), 0}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("'one' is in use by ringdhcp on host"),
                             HasSubstr("process " + std::to_string(getpid()))));
  const auto other = OpenSession(TestOptions(cluster_.connection(), "two"), guard);
  EXPECT_TRUE(other->TakeServer({RandomUuid(), 0}).ok());
}

TEST_F(SchemaTest, ALostConnectionOfTheSameRunIsCutForTheNext) {
  const ServerRun run{RandomUuid(), 0};
  const auto first = OpenSession(options_, guard_);
  ASSERT_TRUE(first->TakeServer(run).ok());
  SocketGuard guard;
  const auto second = OpenSession(options_, guard);
  EXPECT_TRUE(second->TakeServer({run.session, first->backend_pid()}).ok());
  EXPECT_FALSE(first->Ping().ok());
}

TEST_F(SchemaTest, ARunThatLostItsServerWritesNothing) {
  const auto session = Writer(options_);
  cluster_.Query("UPDATE ringdhcp.servers SET session = gen_random_uuid()");
  const LeaseRecord row = SmallRow(1, 1);
  const LeaseRecord* const pointer = &row;
  EXPECT_TRUE(absl::IsFailedPrecondition(session->Write({&pointer, 1}, 1)));
  EXPECT_EQ(cluster_.Query("SELECT count(*) FROM ringdhcp.leases"), "0");
}

TEST_F(SchemaTest, ACommitIsOnDiskWhateverTheRoleSays) {
  cluster_.Query("ALTER ROLE postgres SET synchronous_commit = off");
  const auto session = Writer(options_);
  EXPECT_EQ(cluster_.Query("SHOW synchronous_commit"), "off");
  cluster_.Query("CREATE TABLE seen (value text)");
  cluster_.Query(
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN INSERT INTO public.seen VALUES (current_setting('synchronous_commit')); "
      "RETURN NEW; END$$");
  cluster_.Query(
      "CREATE TRIGGER note BEFORE INSERT ON ringdhcp.leases "
      "FOR EACH ROW EXECUTE FUNCTION note()");
  Write(*session, {SmallRow(1, 1)});
  EXPECT_EQ(cluster_.Query("SELECT value FROM seen"), "on");
  cluster_.Query("ALTER ROLE postgres RESET synchronous_commit");
}

TEST(ConnectionStringTest, FillsInWhatIsLeftOpenAndNothingElse) {
  const std::vector<ConnectionDefault> defaults = {{"connect_timeout", nullptr, "3"},
                                                   {"application_name", nullptr, "it's me"}};
  const auto text = WithDefaults("host=a,b password='x y\\\\' connect_timeout=9", defaults);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, testing::AllOf(HasSubstr("connect_timeout='9'"), HasSubstr("host='a,b'"),
                                    HasSubstr("application_name='it\\'s me'"),
                                    HasSubstr("password='x y\\\\'")));
  const auto uri =
      WithDefaults("postgresql://u@h1:1,h2:2/d?target_session_attrs=read-write", defaults);
  ASSERT_TRUE(uri.ok()) << uri.status();
  EXPECT_THAT(*uri, testing::AllOf(HasSubstr("host='h1,h2'"), HasSubstr("port='1,2'"),
                                   HasSubstr("target_session_attrs='read-write'")));
  EXPECT_TRUE(absl::IsInvalidArgument(WithDefaults("hots=a", defaults).status()));
}

TEST(RowTextTest, RefusesWhatIsNoRow) {
  const std::string good = "1\t2\tbound\t3\t4\t5\tt\t1\t0102\t\t\t\n";
  ASSERT_TRUE(ParseLeaseLine(good).has_value());
  for (const char* bad :
       {"", "1", "1\t2\tbound\t3\t4\t5\tt\t1\t0102\t\t", "1\t2\tbound\t3\t4\t5\tt\t1\t0102\t\t\t\t",
        "x\t2\tbound\t3\t4\t5\tt\t1\t0102\t\t\t", "1\t2\tbond\t3\t4\t5\tt\t1\t0102\t\t\t",
        "1\t2\tbound\t3\t4\t5\tt\t256\t0102\t\t\t", "1\t2\tbound\t3\t4\t5\tt\t1\t010\t\t\t",
        "1\t2\tbound\t3\t4\t5\tt\t1\t01zz\t\t\t"}) {
    EXPECT_FALSE(ParseLeaseLine(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace ringdhcp
