// A full disk: commits fail with the cause and the remedy, nothing durable is lost, and service
// recovers by itself once there is space.
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/local/local_lease_store.h"
#include "test/contract/store/store_support.h"

namespace ringdhcp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LocalStoreFullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=16m"), 0)
        << "can't mount a tmpfs: " << std::strerror(errno);
    mounted_ = true;
    path_ = directory_.Child("leases");
  }
  void TearDown() override {
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }

  /// Leaves `octets` of the disk free, about.
  void Fill(std::uintmax_t octets) const {
    std::ofstream ballast(directory_.Child("ballast"), std::ios::binary | std::ios::app);
    const std::string block(4096, 'x');
    while (std::filesystem::space(directory_.path()).available > octets) {
      ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush();
      if (!ballast) break;
    }
  }
  void FreeSpace() const { std::filesystem::remove(directory_.Child("ballast")); }

  std::vector<LeaseRecord> NextBatch() {
    std::vector<LeaseRecord> rows;
    for (int i = 0; i < 100; ++i) {
      rows.push_back(SmallRow(next_++, 1));
      SetHostName(rows.back(), std::string(200, 'h'));
    }
    return rows;
  }
  void Expect(const std::vector<LeaseRecord>& rows) {
    for (const LeaseRecord& row : rows) durable_.insert_or_assign(row.address.value, row);
  }
  /// Commits until one fails; that batch, for a retry, with its result.
  std::vector<LeaseRecord> CommitUntilFull(LeaseStore& store, BatchResult& result) {
    while (true) {
      std::vector<LeaseRecord> rows = NextBatch();
      result = store.Commit(rows);
      if (result.outcome != BatchOutcome::kDurable) return rows;
      Expect(rows);
    }
  }

  TemporaryDirectory directory_;
  bool mounted_ = false;
  std::string path_;
  std::uint32_t next_ = 1;
  RowMap durable_;
};

TEST_F(LocalStoreFullDiskTest, RecoversWhenSpaceIsFreed) {
  auto store = OpenStore(path_);
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    Fill(256 << 10);
    BatchResult result;
    const std::vector<LeaseRecord> retry = CommitUntilFull(*store, result);
    for (int attempt = 0; attempt < 5; ++attempt) {
      EXPECT_EQ(result.status.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_THAT(std::string(result.status.message()),
                  AllOf(HasSubstr("no space left on device"), HasSubstr("free space in " + path_)));
      Fill(0);
      result = store->Commit(retry);
      ASSERT_EQ(result.outcome, BatchOutcome::kFailed) << "refused before anything was written";
    }
    FreeSpace();
    result = store->Commit(retry);
    ASSERT_EQ(result.outcome, BatchOutcome::kDurable) << result.status;
    Expect(retry);
    const std::vector<LeaseRecord> more = NextBatch();
    CommitDurably(*store, more);
    Expect(more);
    ExpectSameRows(Load(*store), durable_);
  }
  store.reset();
  ExpectSameRows(Reload(path_), durable_);
}

TEST_F(LocalStoreFullDiskTest, KeepsEarlierRowsWhenItEndsWhileFull) {
  BatchResult result;
  std::vector<LeaseRecord> unknown;
  {
    const auto store = OpenStore(path_);
    ASSERT_NE(store, nullptr);
    Fill(256 << 10);
    unknown = CommitUntilFull(*store, result);
  }
  FreeSpace();
  RowMap rows = Reload(path_);
  for (const LeaseRecord& row : unknown) rows.erase(row.address.value);
  ExpectSameRows(rows, durable_);
}

TEST_F(LocalStoreFullDiskTest, NamesTheFullDiskAtStart) {
  Fill(0);
  LocalStoreOptions options;
  options.directory = path_;
  const absl::Status status = OpenLocalLeaseStore(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_.path()));
  FreeSpace();
  EXPECT_NE(OpenStore(path_), nullptr);
}

}  // namespace
}  // namespace ringdhcp
