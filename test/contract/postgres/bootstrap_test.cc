// A new, older or other local store beside what PostgreSQL has.
#include "storage/postgres/bootstrap.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/contract/postgres/postgres_support.h"

namespace ringdhcp {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kFirst = 0x0A000000;

class BootstrapTest : public testing::Test {
 protected:
  // One cluster for all of them; each begins without a schema.
  static void SetUpTestSuite() { shared_ = std::make_unique<Cluster>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { cluster_.Query("DROP SCHEMA IF EXISTS ringdhcp CASCADE"); }

  /// Opens the store in `directory` as a start of the server does.
  BootstrapResult Start(JournalStore& store) {
    SocketGuard guard;
    const auto session = OpenSession(options_, guard);
    const auto record = session->TakeServer({RandomUuid(), 0});
    EXPECT_TRUE(record.ok()) << record.status();
    const auto result = Bootstrap(store, *session, *record);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : BootstrapResult();
  }
  static std::unique_ptr<JournalStore> Open(const std::string& directory) {
    LocalStoreOptions options;
    options.directory = directory;
    options.outbox = true;
    auto store = OpenLocalLeaseStore(options);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  /// Feeds `rows` to PostgreSQL from `feeder`.
  void Feed(Feeder& feeder, const std::vector<LeaseRecord>& rows) {
    feeder.Commit(rows);
    feeder.StartReplicator();
    feeder.ExpectSameTable(cluster_.connection());
    feeder.StopReplicator();
  }

  static std::unique_ptr<Cluster> shared_;
  Cluster& cluster_ = *shared_;
  PostgresOptions options_ = TestOptions(cluster_.connection());
  TemporaryDirectory directory_;
};

std::unique_ptr<Cluster> BootstrapTest::shared_;

TEST_F(BootstrapTest, AnEmptyStoreLoadsEverythingOnce) {
  Prng prng(5);
  RowMap expected;
  std::vector<LeaseRecord> rows;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    rows.push_back(RandomRow(prng, kFirst + i, 1 + prng.Below(100)));
    rows.back().starts_wall_s = 1'700'000'000;
    rows.back().expires_wall_s = 1'700'003'600;
    expected.emplace(kFirst + i, rows.back());
  }
  Feeder feeder(options_);
  Feed(feeder, rows);
  {
    const auto store = Open(directory_.path());
    const BootstrapResult result = Start(*store);
    EXPECT_TRUE(result.compared);
    EXPECT_EQ(result.loaded, 3000U);
    EXPECT_EQ(result.kept + result.conflicts, 0U);
    EXPECT_GE(store->Ends().last, 3000U) << "positions of the lost store may not come again";
  }
  const auto store = Open(directory_.path());
  ExpectSameRows(Load(*store), expected);
  EXPECT_FALSE(Start(*store).compared);
}

TEST_F(BootstrapTest, OnlyLeasesOfThisServerOrItsSubnetsAreLoaded) {
  PostgresOptions other = TestOptions(cluster_.connection(), "other");
  Feeder feeder(other);
  Feed(feeder, {SmallRow(kFirst, 1), SmallRow(0x0B000000, 1)});
  const auto store = Open(directory_.path());
  EXPECT_EQ(Start(*store).loaded, 1U);
  EXPECT_EQ(Load(*store).count(kFirst), 1U);
}

TEST_F(BootstrapTest, AnOlderCopyOfTheStoreIsBroughtUpToDate) {
  Feeder feeder(options_);
  Feed(feeder, {SmallRow(kFirst, 1), SmallRow(kFirst + 1, 1)});
  const std::string uuid = feeder.store().Uuid();
  const std::string copy = directory_.Child("copy");
  std::filesystem::copy(feeder.directory(), copy, std::filesystem::copy_options::recursive);
  Feed(feeder, {SmallRow(kFirst, 2), SmallRow(kFirst + 2, 1)});
  const RowMap expected = Load(feeder.store());
  const auto store = Open(copy);
  ASSERT_EQ(store->Uuid(), uuid);
  const BootstrapResult result = Start(*store);
  EXPECT_TRUE(result.compared);
  EXPECT_EQ(result.loaded, 2U);
  ExpectSameRows(Load(*store), expected);
  EXPECT_EQ(store->Ends().last, feeder.store().Ends().last);
}

TEST_F(BootstrapTest, TheLargerVersionHoldsOnEitherSideAndEqualsAreReported) {
  Feeder feeder(options_);
  LeaseRecord later = SmallRow(kFirst + 3, 7);
  later.starts_wall_s += 100;
  Feed(feeder, {SmallRow(kFirst, 5), SmallRow(kFirst + 1, 5), SmallRow(kFirst + 2, 7), later,
                SmallRow(kFirst + 5, 1)});
  Feeder second(options_);
  LeaseRecord here = SmallRow(kFirst + 2, 7);
  here.starts_wall_s += 50;
  LeaseRecord there = SmallRow(kFirst + 3, 7);
  second.Commit({SmallRow(kFirst, 6), SmallRow(kFirst + 1, 4), here, there, SmallRow(kFirst + 4, 1),
                 SmallRow(kFirst + 5, 1)});
  const BootstrapResult result = Start(second.store());
  EXPECT_EQ(result.in_postgres, 5U);
  EXPECT_EQ(result.loaded, 2U);     // .1, and .3, which was acknowledged later there
  EXPECT_EQ(result.kept, 3U);       // .0, .4, and .2, which was acknowledged later here
  EXPECT_EQ(result.conflicts, 2U);  // .2 and .3
  EXPECT_THAT(result.first_conflict, HasSubstr("10.0.0."));
  here.version = 8;  // or the other would stay
  second.StartReplicator();
  second.ExpectSameTable(cluster_.connection());
  ExpectSameRows(LoadTable(cluster_.connection()), {{kFirst, SmallRow(kFirst, 6)},
                                                    {kFirst + 1, SmallRow(kFirst + 1, 5)},
                                                    {kFirst + 2, here},
                                                    {kFirst + 3, later},
                                                    {kFirst + 4, SmallRow(kFirst + 4, 1)},
                                                    {kFirst + 5, SmallRow(kFirst + 5, 1)}});
}

TEST_F(BootstrapTest, ARunningServerNeverTakesAStoreThatIsBehind) {
  Feeder feeder(options_);
  Feed(feeder, {SmallRow(kFirst, 1), SmallRow(kFirst, 2)});
  Feeder second(options_);  // starts without having seen PostgreSQL
  second.Touch(kFirst + 9);
  second.StartReplicator();
  EXPECT_TRUE(second.WaitState(ReplicationState::kRefused));
  EXPECT_THAT(second.replicator().Status().cause, HasSubstr("restart ringdhcp"));
}

TEST_F(BootstrapTest, ARowOfSomebodyElseStopsTheLoadByName) {
  Feeder feeder(options_);
  Feed(feeder, {SmallRow(kFirst, 1)});
  cluster_.Query("UPDATE ringdhcp.leases SET hardware_address = 'my laptop'");
  const auto store = Open(directory_.path());
  SocketGuard guard;
  const auto session = OpenSession(options_, guard);
  const auto record = session->TakeServer({RandomUuid(), 0});
  const auto result = Bootstrap(*store, *session, *record);
  EXPECT_TRUE(absl::IsFailedPrecondition(result.status())) << result.status();
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("correct or delete it"));
}

}  // namespace
}  // namespace ringdhcp
