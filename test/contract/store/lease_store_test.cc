// What every LeaseStore must do.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/prng.h"
#include "storage/memory/memory_lease_store.h"
#include "test/contract/store/store_support.h"

namespace ringdhcp {
namespace {

struct StoreKind {
  std::string test_name;
  std::string store_name;
  std::function<std::unique_ptr<LeaseStore>(const std::string& directory)> make;
};

class LeaseStoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    store_ = GetParam().make(directory_.path());
    ASSERT_NE(store_, nullptr);
  }

  TemporaryDirectory directory_;
  std::unique_ptr<LeaseStore> store_;
};

TEST_P(LeaseStoreTest, HasAName) { EXPECT_EQ(store_->name(), GetParam().store_name); }

TEST_P(LeaseStoreTest, StartsEmpty) { EXPECT_TRUE(Load(*store_).empty()); }

TEST_P(LeaseStoreTest, StoresNothingOfAnEmptyBatch) {
  CommitDurably(*store_, {});
  EXPECT_TRUE(Load(*store_).empty());
}

TEST_P(LeaseStoreTest, KeepsEveryFieldOfEveryAddress) {
  Prng prng(1);
  RowMap expected;
  std::vector<LeaseRecord> rows;
  for (const std::uint32_t address : {0U, 1U, 0x7FFFFFFFU, 0x80000000U, 0xC0000201U, 0xFFFFFFFFU}) {
    rows.push_back(RandomRow(prng, address, prng.Next()));
    expected.emplace(address, rows.back());
  }
  CommitDurably(*store_, rows);
  ExpectSameRows(Load(*store_), expected);
}

TEST_P(LeaseStoreTest, KeepsTheLongestFields) {
  LeaseRecord row = SmallRow(1, ~std::uint64_t{0});
  row.subnet = SubnetId(0xFFFFFFFF);
  row.starts_wall_s = -1;
  row.expires_wall_s = kNeverExpires;
  row.htype = 255;
  row.hlen = 16;
  row.chaddr.fill(0xFF);
  row.client_id.fill(0xFF);
  row.host_name.fill(0x00);
  row.relay_information.fill(0x0A);
  row.client_id_length = row.host_name_length = row.relay_information_length = 255;
  CommitDurably(*store_, {row});
  ExpectSameRows(Load(*store_), {{1, row}});
}

TEST_P(LeaseStoreTest, KeepsTheShortestFields) {
  LeaseRecord row;
  row.state = LeaseState::kDeclined;
  CommitDurably(*store_, {row});
  ExpectSameRows(Load(*store_), {{0, row}});
}

TEST_P(LeaseStoreTest, KeepsHostileHostNames) {
  using std::string_literals::operator""s;
  RowMap expected;
  std::uint32_t address = 10;
  for (const std::string& name : {"\n"s, "\0"s, "\xFF"s, "a\0b\n\xFF\xFE'\";--\r\t\\"s,
                                  "\xC3\x28 not UTF-8"s, std::string(255, '\0')}) {
    LeaseRecord row = SmallRow(++address, 1);
    SetHostName(row, name);
    expected.emplace(address, row);
    CommitDurably(*store_, {row});
  }
  ExpectSameRows(Load(*store_), expected);
}

TEST_P(LeaseStoreTest, LargerVersionStaysWhicheverComesLast) {
  CommitDurably(*store_, {SmallRow(1, 5), SmallRow(2, 5), SmallRow(3, 5)});
  CommitDurably(*store_, {SmallRow(1, 6), SmallRow(2, 4)});
  ExpectSameRows(Load(*store_), {{1, SmallRow(1, 6)}, {2, SmallRow(2, 5)}, {3, SmallRow(3, 5)}});
}

TEST_P(LeaseStoreTest, LargerVersionStaysBeyond63Bits) {
  CommitDurably(*store_, {SmallRow(1, 1ULL << 63)});
  CommitDurably(*store_, {SmallRow(1, 7)});
  ExpectSameRows(Load(*store_), {{1, SmallRow(1, 1ULL << 63)}});
}

TEST_P(LeaseStoreTest, WritingABatchAgainChangesNothing) {
  const std::vector<LeaseRecord> rows = {SmallRow(1, 1), SmallRow(2, 9)};
  for (int i = 0; i < 3; ++i) CommitDurably(*store_, rows);
  ExpectSameRows(Load(*store_), {{1, rows[0]}, {2, rows[1]}});
}

TEST_P(LeaseStoreTest, TakesTheLargestBatch) {
  constexpr std::uint32_t kRows = 65536;
  std::vector<LeaseRecord> rows;
  RowMap expected;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    rows.push_back(SmallRow(0x0A000000 + i, 1));
    expected.emplace(rows.back().address.value, rows.back());
  }
  CommitDurably(*store_, rows);
  ExpectSameRows(Load(*store_), expected);
}

TEST_P(LeaseStoreTest, AgreesWithAPlainMap) {
  Prng prng(7);
  RowMap expected;
  for (int batch = 0; batch < 400; ++batch) {
    RowMap rows;
    for (std::uint64_t i = prng.Below(64); i-- > 0;) {
      const auto address = static_cast<std::uint32_t>(prng.Below(500));
      // One content per version, as the engine has it; versions in any order.
      const std::uint64_t version = 1 + prng.Below(50);
      Prng content(address * 1000 + version);
      rows.insert_or_assign(address, RandomRow(content, address, version));
    }
    std::vector<LeaseRecord> list;
    for (const auto& [address, row] : rows) {
      list.push_back(row);
      const auto [stored, is_new] = expected.emplace(address, row);
      if (!is_new && row.version > stored->second.version) stored->second = row;
    }
    CommitDurably(*store_, list);
    if (batch % 100 == 99) ExpectSameRows(Load(*store_), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stores, LeaseStoreTest,
    testing::Values(
        StoreKind{"Memory", "memory", [](const std::string&) { return MakeMemoryLeaseStore(); }},
        StoreKind{"Local", "local", [](const std::string& path) { return OpenStore(path); }},
        StoreKind{"LocalRelaxedWithOutbox", "local",
                  [](const std::string& path) { return OpenStore(path, false, true); }}),
    [](const testing::TestParamInfo<StoreKind>& test) { return test.param.test_name; });

}  // namespace
}  // namespace ringdhcp
