// What the replicator must do, whatever happens to PostgreSQL.
#include "storage/postgres/replicator.h"

#include <sys/mount.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/prng.h"
#include "storage/postgres/replicated_lease_store.h"
#include "test/contract/postgres/postgres_support.h"
#include "test/contract/postgres/proxy.h"

namespace ringdhcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr std::uint32_t kFirst = 0x0A000000;

std::vector<LeaseRecord> SmallRows(std::uint32_t count, std::uint64_t version) {
  std::vector<LeaseRecord> rows;
  for (std::uint32_t i = 0; i < count; ++i) rows.push_back(SmallRow(kFirst + i, version));
  return rows;
}

/// Commits rows of a few hundred addresses until it is destroyed.
class Writer {
 public:
  explicit Writer(Feeder& feeder) : feeder_(feeder), thread_([this] { Run(); }) {}
  ~Writer() { Finish(); }
  void Finish() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int commits() const { return commits_; }

 private:
  void Run() {
    Prng prng(11);
    while (!stopping_) {
      const std::uint32_t address = kFirst + static_cast<std::uint32_t>(prng.Below(300));
      feeder_.Touch(address);
      ++commits_;
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  Feeder& feeder_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> commits_ = 0;
  std::thread thread_;
};

TEST(ReplicatorTest, SendsInOrderAndTrims) {
  Cluster cluster;
  Feeder feeder(TestOptions(cluster.connection()));
  feeder.Commit({SmallRow(kFirst, 1), SmallRow(kFirst + 1, 1)});
  feeder.Commit({SmallRow(kFirst, 2)});
  feeder.StartReplicator();
  feeder.ExpectSameTable(cluster.connection());
  feeder.Commit({SmallRow(kFirst, 3)});
  EXPECT_TRUE(feeder.replicator().WaitDurable(feeder.store().Ends().last).ok());
  EXPECT_EQ(cluster.Query("SELECT version FROM ringdhcp.leases WHERE address = '10.0.0.0'"), "3");
  EXPECT_EQ(cluster.Query("SELECT position FROM ringdhcp.servers"), "4");
  EXPECT_TRUE(Eventually([&] { return feeder.store().Ends().rows() == 0; }));
  EXPECT_EQ(feeder.replicator().Status().lag_seconds, 0);
  EXPECT_EQ(feeder.logger().Count("PostgreSQL: replicating"), 1);
}

TEST(ReplicatorTest, BatchesGrowWithTheBacklogAndOneAddressComesOncePerBatch) {
  Cluster cluster;
  Feeder feeder(TestOptions(cluster.connection()));
  for (std::uint64_t version = 1; version <= 20; ++version) {
    feeder.Commit(SmallRows(300, version));
  }
  feeder.StartReplicator();
  feeder.ExpectSameTable(cluster.connection());
  // 64, 128, 256, 512, 1024...: 6000 changes in 10 batches; at most 300 addresses in each.
  EXPECT_LE(feeder.replicator().metrics().batches.Get(), 10U);
  EXPECT_LE(feeder.replicator().metrics().rows.Get(), 3000U);
}

TEST(ReplicatorTest, HistoryHasEveryChangeEvenOfOneBatch) {
  Cluster cluster;
  PostgresOptions options = TestOptions(cluster.connection());
  options.history_days = 7;
  Feeder feeder(options);
  for (std::uint64_t version = 1; version <= 5; ++version) {
    feeder.Commit({SmallRow(kFirst, version), SmallRow(kFirst + 1, version)});
  }
  feeder.StartReplicator();
  feeder.ExpectSameTable(cluster.connection());
  EXPECT_EQ(cluster.Query("SELECT count(DISTINCT (address, version)) || ' ' || count(*) "
                          "FROM ringdhcp.lease_history"),
            "10 10");
}

struct Fault {
  const char* name;
  std::function<void(Cluster&)> happen;
  bool noticed;  // the state must have been "unavailable"
};

class ReplicatorFaultTest : public testing::TestWithParam<Fault> {};

TEST_P(ReplicatorFaultTest, LosesNothingAndRecoversByItself) {
  Cluster cluster;
  Feeder feeder(TestOptions(cluster.connection()));
  feeder.StartReplicator();
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kStreaming));
  Writer writer(feeder);
  std::this_thread::sleep_for(milliseconds(200));
  GetParam().happen(cluster);
  std::this_thread::sleep_for(milliseconds(200));
  writer.Finish();
  EXPECT_GT(writer.commits(), 50);
  feeder.ExpectSameTable(cluster.connection());
  EXPECT_TRUE(feeder.WaitState(ReplicationState::kStreaming));
  if (GetParam().noticed) {
    EXPECT_GE(feeder.logger().Count("PostgreSQL: unavailable"), 1);
    EXPECT_GE(feeder.replicator().metrics().reconnects.Get(), 1U);
  }
  // One line for each change of state: after each "unavailable" comes another state.
  std::string before;
  for (const std::string& line : feeder.logger().Lines()) {
    const std::string state = line.substr(0, line.find(" cause="));
    EXPECT_FALSE(state == before && state.find("unavailable") != std::string::npos) << line;
    before = state;
  }
}

void EndBackendsAgainAndAgain(Cluster& cluster) {
  for (int i = 0; i < 20; ++i) {
    cluster.TerminateBackends();
    std::this_thread::sleep_for(milliseconds(60));
  }
}

void SetReadOnly(Cluster& cluster, const char* value) {
  cluster.Query(absl::StrCat("ALTER SYSTEM SET default_transaction_read_only = ", value));
  cluster.Query("SELECT pg_reload_conf()");
  cluster.TerminateBackends();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ReplicatorFaultTest,
    testing::Values(Fault{"KilledAndStartedAgain",
                          [](Cluster& cluster) {
                            cluster.Crash();
                            std::this_thread::sleep_for(milliseconds(500));
                            cluster.Start();
                          },
                          true},
                    Fault{"StoppedAndStartedAgain",
                          [](Cluster& cluster) {
                            cluster.Stop();
                            std::this_thread::sleep_for(milliseconds(500));
                            cluster.Start();
                          },
                          true},
                    Fault{"PausedForLongerThanAStatementMayTake",
                          [](Cluster& cluster) {
                            cluster.Pause();
                            std::this_thread::sleep_for(milliseconds(4600));
                            cluster.Resume();
                          },
                          true},
                    Fault{"PausedForAMoment",
                          [](Cluster& cluster) {
                            cluster.Pause();
                            std::this_thread::sleep_for(milliseconds(700));
                            cluster.Resume();
                          },
                          false},
                    Fault{"BackendsEndedInTheMiddleOfCommits", EndBackendsAgainAndAgain, true},
                    Fault{"ReadOnlyForAWhile",
                          [](Cluster& cluster) {
                            SetReadOnly(cluster, "on");
                            std::this_thread::sleep_for(milliseconds(800));
                            // ALTER SYSTEM is no transaction that read-only forbids.
                            SetReadOnly(cluster, "off");
                          },
                          true},
                    Fault{"ATableLockedForLongerThanAStatementMayTake",
                          [](Cluster& cluster) {
                            cluster.Query(
                                "BEGIN; LOCK TABLE ringdhcp.leases; SELECT pg_sleep(4); COMMIT");
                          },
                          true}),
    [](const testing::TestParamInfo<Fault>& test) { return std::string(test.param.name); });

TEST(ReplicatorTest, ASlowNetworkGrowsTheBatches) {
  Cluster cluster;
  Proxy proxy(cluster.port());
  Feeder feeder(TestOptions(absl::StrCat("host=127.0.0.1 port=", proxy.port(),
                                         " user=postgres password=secret dbname=postgres")));
  feeder.StartReplicator();
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kStreaming));
  proxy.DelayBy(100);
  std::uint64_t limit = 0;
  {
    Writer writer(feeder);
    EXPECT_TRUE(Eventually([&] {
      limit = std::max(limit, feeder.replicator().metrics().batch_limit.Get());
      return limit > 64;
    }));
  }
  EXPECT_GT(limit, 64U);
  feeder.ExpectSameTable(cluster.connection());
  EXPECT_EQ(feeder.logger().Count("PostgreSQL: unavailable"), 0);
}

TEST(ReplicatorTest, ANetworkThatDropsAndSwallows) {
  Cluster cluster;
  Proxy proxy(cluster.port());
  Feeder feeder(TestOptions(absl::StrCat("host=127.0.0.1 port=", proxy.port(),
                                         " user=postgres password=secret dbname=postgres")));
  feeder.StartReplicator();
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kStreaming));
  {
    Writer writer(feeder);
    for (int i = 0; i < 5; ++i) {
      proxy.Drop();
      std::this_thread::sleep_for(milliseconds(300));
    }
    proxy.Swallow(true);
    EXPECT_TRUE(feeder.WaitState(ReplicationState::kUnavailable, seconds(8)));
    proxy.Drop();
    proxy.Swallow(false);
  }
  feeder.ExpectSameTable(cluster.connection());
}

TEST(ReplicatorTest, AWrongPasswordIsNamedAndTriedAgain) {
  Cluster cluster;
  Feeder feeder(TestOptions(absl::StrCat("host=127.0.0.1 port=", cluster.port(),
                                         " user=postgres password=wrong dbname=postgres")));
  feeder.StartReplicator();
  feeder.Touch(kFirst);
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kUnavailable));
  EXPECT_THAT(feeder.replicator().Status().cause, HasSubstr("password authentication failed"));
  EXPECT_THAT(feeder.replicator().Status().cause, testing::Not(HasSubstr("wrong")));
  cluster.Query("ALTER USER postgres PASSWORD 'wrong'");
  feeder.ExpectSameTable(cluster.connection());
}

TEST(ReplicatorTest, ANewerSchemaIsRefusedUntilItIsRight) {
  Cluster cluster;
  SocketGuard guard;
  ASSERT_NE(OpenSession(TestOptions(cluster.connection()), guard), nullptr);
  cluster.Query("INSERT INTO ringdhcp.schema_migrations VALUES (1000, 'later', now(), 'test')");
  Feeder feeder(TestOptions(cluster.connection()));
  feeder.StartReplicator();
  feeder.Touch(kFirst);
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kRefused));
  EXPECT_EQ(cluster.Query("SELECT count(*) FROM ringdhcp.leases"), "0");
  cluster.Query("DELETE FROM ringdhcp.schema_migrations WHERE number = 1000");
  feeder.ExpectSameTable(cluster.connection());
}

class FullDisk {
 public:
  explicit FullDisk(const Cluster& cluster) : path_(cluster.path() + "/small") {
    std::filesystem::create_directory(path_);
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=16m") == 0;
    RunProgram({"chown", "postgres", path_});
  }
  ~FullDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }
  void Grow() const { mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=256m"); }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST(ReplicatorTest, AFullDiskThereIsNamedAndNothingIsLost) {
  Cluster cluster;
  const FullDisk disk(cluster);
  ASSERT_TRUE(disk.mounted());
  SocketGuard guard;
  ASSERT_NE(OpenSession(TestOptions(cluster.connection()), guard), nullptr);
  cluster.Query(absl::StrCat("CREATE TABLESPACE small LOCATION '", disk.path(), "'"));
  cluster.Query("ALTER TABLE ringdhcp.leases SET TABLESPACE small");
  Feeder feeder(TestOptions(cluster.connection()));
  feeder.StartReplicator();
  std::uint32_t next = kFirst;
  bool failed = false;
  const auto fill = [&] {
    std::vector<LeaseRecord> rows;
    for (int i = 0; i < 500; ++i) {
      rows.push_back(SmallRow(next++, 1));
      SetHostName(rows.back(), std::string(250, 'h'));
    }
    feeder.Commit(rows);
    return Eventually([&] {
      const ReplicationStatus status = feeder.replicator().Status();
      failed = status.state == ReplicationState::kUnavailable;
      return failed || status.lag_rows < 2000;
    });
  };
  for (int i = 0; i < 500 && !failed; ++i) ASSERT_TRUE(fill());
  ASSERT_TRUE(failed);
  EXPECT_THAT(feeder.replicator().Status().cause, HasSubstr("free space there"));
  disk.Grow();
  feeder.ExpectSameTable(cluster.connection());
  cluster.Crash();  // before its tablespace goes away
}

TEST(ReplicatorTest, FailsOverToAnEmptySecondHost) {
  Cluster first;
  Cluster second;
  Feeder feeder(TestOptions(absl::StrCat(
      "host=", first.socket_directory(), ",", second.socket_directory(), " port=", first.port(),
      ",", second.port(), " user=postgres dbname=postgres target_session_attrs=read-write")));
  feeder.StartReplicator();
  feeder.Commit(SmallRows(500, 1));
  feeder.ExpectSameTable(first.connection());
  first.Crash();
  feeder.Commit(SmallRows(700, 2));
  feeder.ExpectSameTable(second.connection());
}

TEST(ReplicatorTest, SendsEverythingAgainToOneThatLostWhatItHadConfirmed) {
  Cluster cluster;
  Feeder feeder(TestOptions(cluster.connection()));
  feeder.StartReplicator();
  feeder.Commit(SmallRows(400, 1));
  feeder.ExpectSameTable(cluster.connection());
  ASSERT_TRUE(Eventually([&] { return feeder.store().Ends().rows() == 0; }));
  // As a standby that was promoted without the last transactions.
  cluster.Query("UPDATE ringdhcp.servers SET position = 100");
  cluster.Query("DELETE FROM ringdhcp.leases WHERE address > '10.0.0.100'");
  cluster.TerminateBackends();
  EXPECT_TRUE(Eventually(
      [&] { return feeder.logger().Count("lacks changes that it had confirmed") == 1; }));
  feeder.ExpectSameTable(cluster.connection());
  EXPECT_EQ(cluster.Query("SELECT position FROM ringdhcp.servers"), "400");
}

TEST(ReplicatorTest, AnOutboxAtItsLimitIsCompactedToTheLastChangeOfEachAddress) {
  Cluster cluster;
  cluster.Crash();
  Feeder feeder(TestOptions(cluster.connection()), 1000);
  feeder.StartReplicator();
  for (std::uint64_t version = 1; version <= 60; ++version) {
    feeder.Commit(SmallRows(50, version));
    ASSERT_LT(feeder.store().Ends().rows(), 1000U);
  }
  ASSERT_TRUE(feeder.store().Ends().resync_through.has_value());
  feeder.Restart();  // the mark survives
  ASSERT_TRUE(feeder.store().Ends().resync_through.has_value());
  cluster.Start();
  feeder.ExpectSameTable(cluster.connection());
  EXPECT_EQ(cluster.Query("SELECT min(version) || ' ' || count(*) FROM ringdhcp.leases"), "60 50");
}

TEST(ReplicatorTest, ChangesMadeWhileTheOutboxWasOffAreNotForgotten) {
  const TemporaryDirectory directory;
  LocalStoreOptions options;
  options.directory = directory.path();
  const auto commit = [&](bool outbox, std::uint64_t version) {
    options.outbox = outbox;
    const auto store = OpenLocalLeaseStore(options);
    ASSERT_TRUE(store.ok()) << store.status();
    CommitDurably(**store, {SmallRow(1, version)});
  };
  const auto marked = [&](bool outbox) {
    options.outbox = outbox;
    return (*OpenLocalLeaseStore(options))->Ends().resync_through.has_value();
  };
  EXPECT_FALSE(marked(true)) << "a new store lacks nothing";
  commit(false, 1);
  EXPECT_FALSE(marked(false));
  EXPECT_TRUE(marked(true)) << "a lease from before the outbox";
  ASSERT_TRUE((*OpenLocalLeaseStore(options))->EndResync(0).ok());
  EXPECT_FALSE(marked(true)) << "sent once";
  commit(false, 2);
  EXPECT_TRUE(marked(true)) << "a change while the outbox was off and still empty";
  options.outbox = true;
  ASSERT_TRUE((*OpenLocalLeaseStore(options))->EndResync(0).ok());
  commit(true, 3);
  EXPECT_FALSE(marked(true));
  EXPECT_FALSE(marked(false)) << "only looking changes nothing";
  commit(false, 4);
  EXPECT_TRUE(marked(true)) << "a change while the outbox was off";
}

TEST(ReplicatorTest, EndsSoonWhateverPostgresDoes) {
  Cluster cluster;
  PostgresOptions options = TestOptions(cluster.connection());
  options.statement_timeout_s = 60;
  Feeder feeder(options);
  feeder.StartReplicator();
  ASSERT_TRUE(feeder.WaitState(ReplicationState::kStreaming));
  cluster.Pause();
  feeder.Touch(kFirst);
  std::this_thread::sleep_for(milliseconds(300));
  const auto begin = std::chrono::steady_clock::now();
  feeder.StopReplicator();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(3));
  cluster.Resume();
}

class WaitingStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    feeder_.StartReplicator();
    ASSERT_TRUE(feeder_.WaitState(ReplicationState::kStreaming));
    store_ = std::make_unique<ReplicatedLeaseStore>(feeder_.store(), feeder_.replicator(), true,
                                                    100000, feeder_.logger());
  }
  Cluster cluster_;
  Feeder feeder_{TestOptions(cluster_.connection())};
  std::unique_ptr<ReplicatedLeaseStore> store_;
};

TEST_F(WaitingStoreTest, ACommitIsDurableWhenPostgresHasIt) {
  for (std::uint64_t version = 1; version <= 20; ++version) {
    CommitDurably(*store_, {SmallRow(kFirst, version)});
    EXPECT_EQ(cluster_.Query("SELECT version FROM ringdhcp.leases"), std::to_string(version));
  }
}

TEST_F(WaitingStoreTest, ACommitWaitsForPostgresToComeBack) {
  cluster_.Crash();
  std::atomic<bool> done = false;
  std::thread committer([&] {
    CommitDurably(*store_, {SmallRow(kFirst, 1)});
    EXPECT_EQ(cluster_.Query("SELECT version FROM ringdhcp.leases"), "1");
    done = true;
  });
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_FALSE(done);
  cluster_.Start();
  committer.join();
}

TEST_F(WaitingStoreTest, AWaitThatIsCancelledHasAnUnknownOutcome) {
  cluster_.Crash();
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(300));
    feeder_.replicator().CancelWaits();
  });
  EXPECT_EQ(store_->Commit(std::vector<LeaseRecord>{SmallRow(kFirst, 1)}).outcome,
            BatchOutcome::kUnknown);
  canceller.join();
  EXPECT_FALSE(feeder_.replicator().Drain(milliseconds(50)));
}

}  // namespace
}  // namespace ringdhcp
