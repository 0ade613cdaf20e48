// How fast the replicator is, beside a bare loop that upserts prepared arrays into the same table.
#include <array>
#include <chrono>
#include <cstdio>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "storage/postgres/row_text.h"
#include "storage/postgres/statements.h"
#include "test/contract/postgres/postgres_support.h"

namespace ringdhcp {
namespace {

constexpr std::uint32_t kFirst = 0x0A000000;
constexpr std::uint32_t kAddresses = 20480;
constexpr std::uint32_t kBatch = 1024;
constexpr std::uint64_t kVersions = 3;  // the first inserts, the others update

using SteadyClock = std::chrono::steady_clock;

std::vector<LeaseRecord> Rows(std::uint32_t begin, std::uint64_t version) {
  std::vector<LeaseRecord> rows;
  for (std::uint32_t i = 0; i < kBatch; ++i) {
    rows.push_back(SmallRow(kFirst + begin + i, version));
    SetHostName(rows.back(), "host-" + std::to_string(begin + i));
  }
  return rows;
}

double RowsPerSecond(SteadyClock::time_point begin) {
  return kAddresses * kVersions / std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

/// What there is without a replicator: the same statement, the arrays made beforehand.
double BareLoop(const Cluster& cluster) {
  SocketGuard guard;
  const auto session = OpenSession(TestOptions(cluster.connection(), "bare"), guard);
  const ServerRun run{RandomUuid(), 0};
  EXPECT_TRUE(session->TakeServer(run).ok());
  std::vector<std::array<std::string, LeaseArrays::kColumns>> batches;
  LeaseArrays arrays;
  for (std::uint64_t version = 1; version <= kVersions; ++version) {
    for (std::uint32_t i = 0; i < kAddresses; i += kBatch) {
      arrays.Clear();
      for (const LeaseRecord& row : Rows(i, version)) arrays.Add(row);
      batches.push_back(arrays.Finish());
    }
  }
  pqxx::connection connection(cluster.connection());
  connection.prepare("bare", UpsertBatch(false));
  const auto begin = SteadyClock::now();
  for (const auto& c : batches) {
    pqxx::nontransaction transaction(connection);
    transaction.exec_prepared("bare", std::string("bare"), run.session, 0, c[0], c[1], c[2], c[3],
                              c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12]);
  }
  return RowsPerSecond(begin);
}

TEST(ReplicatorRateTest, IsNotFarFromABareLoop) {
  double bare = 0;
  double replicated = 0;
  {
    const Cluster cluster;
    bare = BareLoop(cluster);
  }
  {
    Cluster cluster;
    Feeder feeder(TestOptions(cluster.connection()));
    for (std::uint64_t version = 1; version <= kVersions; ++version) {
      for (std::uint32_t i = 0; i < kAddresses; i += kBatch) feeder.Commit(Rows(i, version));
    }
    const auto begin = SteadyClock::now();
    feeder.StartReplicator();
    ASSERT_TRUE(feeder.replicator().WaitDurable(feeder.store().Ends().last).ok());
    replicated = RowsPerSecond(begin);
  }
  std::printf("    bare loop %.0f rows/s, replicator with its connection %.0f rows/s: %.0f %%\n",
              bare, replicated, 100 * replicated / bare);
  // A generous bound: builds with sanitizers and busy machines run this, too.
  EXPECT_GT(replicated, 0.3 * bare);
}

}  // namespace
}  // namespace ringdhcp
