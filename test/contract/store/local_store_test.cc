// What the local store promises beyond the contract of every store: durability, one user per
// directory, a version, and damage that is found and named.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/local/database.h"
#include "storage/local/lease_row.h"
#include "storage/local/local_lease_store.h"
#include "test/contract/store/store_support.h"

namespace ringdhcp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

absl::Status OpenError(const std::string& directory) {
  LocalStoreOptions options;
  options.directory = directory;
  return OpenLocalLeaseStore(options).status();
}

std::unique_ptr<Database> OpenDatabase(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory);
  EXPECT_TRUE(database.ok()) << database.status();
  return database.ok() ? *std::move(database) : nullptr;
}

std::string GetMeta(const std::string& directory, const std::string& key) {
  const auto database = OpenDatabase(directory);
  std::string value;
  EXPECT_TRUE(database->db().Get(rocksdb::ReadOptions(), database->meta(), key, &value).ok());
  return value;
}

void PutMeta(const std::string& directory, const std::string& key, const std::string& value) {
  const auto database = OpenDatabase(directory);
  ASSERT_TRUE(database->db().Put(rocksdb::WriteOptions(), database->meta(), key, value).ok());
}

/// The log with the largest number: the one written last.
std::filesystem::path LastLog(const std::string& directory) {
  std::set<std::filesystem::path> logs;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".log") logs.insert(entry.path());
  }
  EXPECT_FALSE(logs.empty());
  return logs.empty() ? std::filesystem::path() : *logs.rbegin();
}

TEST(LocalStoreTest, KeepsRowsAcrossOpens) {
  const TemporaryDirectory directory;
  Prng prng(3);
  RowMap expected;
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const auto store = OpenStore(directory.path());
    ExpectSameRows(Load(*store), expected);
    std::vector<LeaseRecord> rows;
    for (std::uint32_t i = 0; i < 100; ++i) {
      rows.push_back(RandomRow(prng, static_cast<std::uint32_t>(round * 50 + i), round));
      expected.insert_or_assign(rows.back().address.value, rows.back());
    }
    CommitDurably(*store, rows);
  }
  ExpectSameRows(Reload(directory.path()), expected);
}

TEST(LocalStoreTest, LargerVersionStaysAcrossOpensAndFlushes) {
  const TemporaryDirectory directory;
  for (const std::uint64_t version : {3, 9, 4, 1, 8}) {
    const auto database = OpenDatabase(directory.path());
    LeaseRowCodec codec;
    const auto key = BigEndianKey(std::uint32_t{1});
    const std::string_view value = codec.Encode(SmallRow(1, version));
    ASSERT_TRUE(database->db()
                    .Merge(rocksdb::WriteOptions(), database->leases(), {key.data(), key.size()},
                           {value.data(), value.size()})
                    .ok());
    ASSERT_TRUE(database->db().Flush(rocksdb::FlushOptions(), database->leases()).ok());
  }
  ExpectSameRows(Reload(directory.path()), {{1, SmallRow(1, 9)}});
  {
    const auto database = OpenDatabase(directory.path());
    ASSERT_TRUE(
        database->db()
            .CompactRange(rocksdb::CompactRangeOptions(), database->leases(), nullptr, nullptr)
            .ok());
  }
  ExpectSameRows(Reload(directory.path()), {{1, SmallRow(1, 9)}});
}

TEST(LocalStoreTest, MakesItsDirectory) {
  const TemporaryDirectory parent;
  const std::string path = parent.Child("a/b/leases");
  ASSERT_NE(OpenStore(path + "/"), nullptr);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U & ~0750U, 0U);
}

TEST(LocalStoreTest, LeavesTheModeOfItsDirectory) {
  const TemporaryDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0777), 0);
  ASSERT_NE(OpenStore(directory.path()), nullptr);
  struct stat info {};
  ASSERT_EQ(stat(directory.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0777U);
}

TEST(LocalStoreTest, NamesAFileInTheWay) {
  const TemporaryDirectory parent;
  std::ofstream(parent.Child("file")) << "text";
  EXPECT_THAT(OpenError(parent.Child("file")).message(), HasSubstr(parent.Child("file")));
  EXPECT_FALSE(OpenError(parent.Child("file/below")).ok());
  EXPECT_FALSE(OpenError("").ok());
}

TEST(LocalStoreTest, OneUserPerDirectory) {
  const TemporaryDirectory directory;
  auto store = OpenStore(directory.path());
  const absl::Status second = OpenError(directory.path());
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()),
              AllOf(HasSubstr("another ringdhcp"), HasSubstr(directory.path()),
                    HasSubstr("process " + std::to_string(getpid()))));
  CommitDurably(*store, {SmallRow(1, 1)});  // the first one goes on
  store.reset();
  ExpectSameRows(Reload(directory.path()), {{1, SmallRow(1, 1)}});
}

TEST(LocalStoreTest, RefusesANewerFormatAndLeavesItAlone) {
  const TemporaryDirectory directory;
  CommitDurably(*OpenStore(directory.path()), {SmallRow(1, 1)});
  PutMeta(directory.path(), "format", "2");
  const auto size = std::filesystem::file_size(LastLog(directory.path()));
  const absl::Status status = OpenError(directory.path());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(directory.path()), HasSubstr("format 2"), HasSubstr("format 1")));
  EXPECT_EQ(std::filesystem::file_size(LastLog(directory.path())), size);
}

TEST(LocalStoreTest, RefusesAnUnreadableFormat) {
  const TemporaryDirectory directory;
  ASSERT_NE(OpenStore(directory.path()), nullptr);
  PutMeta(directory.path(), "format", "x");
  EXPECT_EQ(OpenError(directory.path()).code(), absl::StatusCode::kDataLoss);
}

TEST(LocalStoreTest, KeepsItsServerUuid) {
  const TemporaryDirectory directory;
  const TemporaryDirectory other;
  ASSERT_NE(OpenStore(directory.path()), nullptr);
  ASSERT_NE(OpenStore(other.path()), nullptr);
  const std::string uuid = GetMeta(directory.path(), "server_uuid");
  EXPECT_THAT(uuid, testing::MatchesRegex("[0-9a-f]+-[0-9a-f]+-4[0-9a-f]+-[89ab][0-9a-f]+-.*"));
  EXPECT_EQ(uuid.size(), 36U);
  ASSERT_NE(OpenStore(directory.path()), nullptr);
  EXPECT_EQ(GetMeta(directory.path(), "server_uuid"), uuid);
  EXPECT_NE(GetMeta(other.path(), "server_uuid"), uuid);
  EXPECT_EQ(GetMeta(directory.path(), "format"), "1");
}

TEST(LocalStoreTest, SkipsADamagedRowAndSaysSo) {
  const TemporaryDirectory directory;
  CommitDurably(*OpenStore(directory.path()), {SmallRow(1, 1), SmallRow(2, 1), SmallRow(3, 1)});
  {
    const auto database = OpenDatabase(directory.path());
    LeaseRowCodec codec;
    const auto put = [&](std::string_view key, std::string_view value) {
      ASSERT_TRUE(database->db()
                      .Put(rocksdb::WriteOptions(), database->leases(), {key.data(), key.size()},
                           {value.data(), value.size()})
                      .ok());
    };
    const auto key = BigEndianKey(std::uint32_t{2});
    put({key.data(), key.size()}, "\xFF\xFF\xFF");
    put("odd", codec.Encode(SmallRow(4, 1)));
  }
  const auto store = OpenStore(directory.path());
  absl::Status status;
  ExpectSameRows(Load(*store, &status), {{1, SmallRow(1, 1)}, {3, SmallRow(3, 1)}});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(directory.path()), HasSubstr("2 damaged"), HasSubstr("0.0.0.2")));
  CommitDurably(*store, {SmallRow(2, 1)});  // any row is better than a damaged one
  EXPECT_EQ(Load(*store, &status).count(2), 1U);
}

/// The positions in the outbox with the version of each row, which must be of address 1.
std::vector<std::pair<std::uint64_t, std::uint64_t>> ReadOutbox(Database& database) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows;
  const std::unique_ptr<rocksdb::Iterator> it(
      database.db().NewIterator(rocksdb::ReadOptions(), database.outbox()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const auto position = ParseBigEndianKey<std::uint64_t>(it->key().ToStringView());
    storage::LeaseRow row;
    EXPECT_TRUE(row.ParseFromString(it->value().ToString()));
    EXPECT_EQ(row.address(), 1U);
    rows.emplace_back(position.value_or(0), row.version());
  }
  return rows;
}

TEST(LocalStoreTest, OutboxPositionsRiseAcrossOpensEvenWhenDrained) {
  using Entry = std::pair<std::uint64_t, std::uint64_t>;
  const TemporaryDirectory directory;
  {
    const auto store = OpenStore(directory.path(), true, true);
    CommitDurably(*store, {SmallRow(1, 1)});
    CommitDurably(*store, {SmallRow(1, 2)});
  }
  CommitDurably(*OpenStore(directory.path(), true, true), {SmallRow(1, 3)});
  CommitDurably(*OpenStore(directory.path(), true, false), {SmallRow(1, 4)});
  {
    const auto database = OpenDatabase(directory.path());
    EXPECT_THAT(ReadOutbox(*database), ElementsAre(Entry(1, 1), Entry(2, 2), Entry(3, 3)));
    const auto last = BigEndianKey(std::uint64_t{4});
    ASSERT_TRUE(database->db()
                    .DeleteRange(rocksdb::WriteOptions(), database->outbox(), "",
                                 {last.data(), last.size()})
                    .ok());
  }
  CommitDurably(*OpenStore(directory.path(), true, true), {SmallRow(1, 5)});
  EXPECT_THAT(ReadOutbox(*OpenDatabase(directory.path())), ElementsAre(Entry(4, 5)));
}

/// A closed store whose log ends with one record for address 99, and where that record starts.
struct LogOfOneMore {
  RowMap earlier;
  std::filesystem::path log;
  std::uintmax_t start = 0;
  std::uintmax_t end = 0;
};

LogOfOneMore MakeLogOfOneMore(const std::string& directory) {
  LogOfOneMore made;
  auto store = OpenStore(directory);
  for (std::uint32_t address = 1; address <= 20; ++address) {
    CommitDurably(*store, {SmallRow(address, 1)});
    made.earlier.emplace(address, SmallRow(address, 1));
  }
  made.log = LastLog(directory);
  made.start = std::filesystem::file_size(made.log);
  CommitDurably(*store, {SmallRow(99, 1)});
  store.reset();
  made.end = std::filesystem::file_size(made.log);
  return made;
}

/// The rows of a copy of `directory` whose log was changed by `harm`.
template <typename Harm>
RowMap ReloadHarmed(const std::string& directory, const std::filesystem::path& log, Harm harm) {
  const TemporaryDirectory parent;
  const std::string copy = parent.Child("copy");
  std::filesystem::copy(directory, copy, std::filesystem::copy_options::recursive);
  harm(std::filesystem::path(copy) / log.filename());
  return Reload(copy);
}

TEST(LocalStoreTest, OpensWithALogTornAtAnyOctetOfItsLastRecord) {
  const TemporaryDirectory directory;
  const LogOfOneMore made = MakeLogOfOneMore(directory.path());
  ASSERT_GT(made.end, made.start);
  ASSERT_LT(made.end, made.start + 200);
  for (std::uintmax_t size = made.start; size < made.end; ++size) {
    SCOPED_TRACE(size);
    ExpectSameRows(
        ReloadHarmed(directory.path(), made.log,
                     [size](const auto& log) { std::filesystem::resize_file(log, size); }),
        made.earlier);
  }
  EXPECT_EQ(Reload(directory.path()).count(99), 1U);
}

TEST(LocalStoreTest, OpensWithALogWhoseLastRecordIsGarbage) {
  const TemporaryDirectory directory;
  const LogOfOneMore made = MakeLogOfOneMore(directory.path());
  for (std::uintmax_t at = made.start; at < made.end; at += 7) {
    SCOPED_TRACE(at);
    ExpectSameRows(ReloadHarmed(directory.path(), made.log,
                                [at](const auto& log) {
                                  std::fstream file(
                                      log, std::ios::in | std::ios::out | std::ios::binary);
                                  file.seekg(static_cast<std::streamoff>(at));
                                  const int octet = file.get();
                                  file.seekp(static_cast<std::streamoff>(at));
                                  file.put(static_cast<char>(octet ^ 0x55));
                                }),
                   made.earlier);
  }
  // A crash can leave the size of the file behind without its content.
  ExpectSameRows(ReloadHarmed(directory.path(), made.log,
                              [&made](const auto& log) {
                                std::filesystem::resize_file(log, made.start);
                                std::filesystem::resize_file(log, made.end + 5000);
                              }),
                 made.earlier);
}

}  // namespace
}  // namespace ringdhcp
