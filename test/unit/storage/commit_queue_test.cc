#include "storage/commit_queue.h"

#include <map>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/prng.h"

namespace ringdhcp {
namespace {

LeaseRecord Row(std::uint32_t address, std::uint64_t version) {
  LeaseRecord row;
  row.address = Ipv4Address(address);
  row.state = LeaseState::kBound;
  row.version = version;
  return row;
}

using AddressVersion = std::pair<std::uint32_t, std::uint64_t>;

std::vector<AddressVersion> Rows(std::span<const LeaseRecord> rows) {
  std::vector<AddressVersion> list;
  for (const LeaseRecord& row : rows) list.emplace_back(row.address.value, row.version);
  return list;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommitQueueTest, StartsEmpty) {
  CommitQueue queue(8);
  EXPECT_EQ(queue.Free(), 8U);
  EXPECT_EQ(queue.pending_rows(), 0U);
  EXPECT_EQ(queue.last_seq(), CommitSeq(0));
  EXPECT_EQ(queue.durable_seq(), CommitSeq(0));
  EXPECT_EQ(queue.Seal(), nullptr);
  EXPECT_FALSE(queue.in_flight());
  EXPECT_FALSE(queue.has_retry());
}

TEST(CommitQueueTest, NumbersRiseByOneFromOne) {
  CommitQueue queue(8);
  EXPECT_EQ(queue.Append(Row(1, 1)), CommitSeq(1));
  EXPECT_EQ(queue.Append(Row(2, 1)), CommitSeq(2));
  EXPECT_EQ(queue.Append(Row(1, 2)), CommitSeq(3));
  EXPECT_EQ(queue.last_seq(), CommitSeq(3));
}

TEST(CommitQueueTest, LastWriteOfAnAddressWins) {
  CommitQueue queue(8);
  queue.Append(Row(1, 1));
  queue.Append(Row(2, 1));
  queue.Append(Row(1, 2));
  EXPECT_EQ(queue.Free(), 6U);
  const LeaseBatch* batch = queue.Seal();
  ASSERT_NE(batch, nullptr);
  EXPECT_THAT(Rows(batch->rows), ElementsAre(AddressVersion(1, 2), AddressVersion(2, 1)));
  EXPECT_EQ(batch->last, CommitSeq(3));
  EXPECT_EQ(batch->attempts, 1U);
}

TEST(CommitQueueTest, NextBatchFillsWhileOneIsWithTheStore) {
  CommitQueue queue(2);
  queue.Append(Row(1, 1));
  const LeaseBatch* first = queue.Seal();
  EXPECT_TRUE(queue.in_flight());
  EXPECT_EQ(queue.Free(), 2U);
  queue.Append(Row(1, 2));
  queue.Append(Row(2, 1));
  EXPECT_EQ(queue.Free(), 0U);
  EXPECT_EQ(queue.pending_rows(), 3U);
  EXPECT_EQ(queue.Seal(), nullptr);
  EXPECT_THAT(Rows(first->rows), ElementsAre(AddressVersion(1, 1)));

  queue.OnResult(BatchOutcome::kDurable);
  EXPECT_EQ(queue.durable_seq(), CommitSeq(1));
  EXPECT_EQ(queue.pending_rows(), 2U);
  EXPECT_EQ(queue.Free(), 0U);
  const LeaseBatch* second = queue.Seal();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(queue.Free(), 2U);
  EXPECT_THAT(Rows(second->rows), ElementsAre(AddressVersion(1, 2), AddressVersion(2, 1)));
  EXPECT_EQ(second->last, CommitSeq(3));
}

TEST(CommitQueueTest, DurableRowsAreReadableUntilTheNextSealOrAppend) {
  CommitQueue queue(4);
  queue.Append(Row(1, 1));
  queue.Append(Row(2, 5));
  queue.Seal();
  queue.Append(Row(3, 1));
  EXPECT_THAT(queue.last_durable_rows(), IsEmpty());
  queue.OnResult(BatchOutcome::kDurable);
  EXPECT_THAT(Rows(queue.last_durable_rows()),
              ElementsAre(AddressVersion(1, 1), AddressVersion(2, 5)));
  queue.Seal();
  EXPECT_THAT(queue.last_durable_rows(), IsEmpty());
  queue.OnResult(BatchOutcome::kDurable);
  EXPECT_THAT(Rows(queue.last_durable_rows()), ElementsAre(AddressVersion(3, 1)));
  queue.Append(Row(4, 1));
  EXPECT_THAT(queue.last_durable_rows(), IsEmpty());
}

class CommitQueueRetryTest : public testing::TestWithParam<BatchOutcome> {};

TEST_P(CommitQueueRetryTest, SameBatchComesAgainBeforeLaterOnes) {
  CommitQueue queue(4);
  queue.Append(Row(1, 1));
  queue.Append(Row(2, 1));
  const LeaseBatch* batch = queue.Seal();
  queue.Append(Row(1, 2));
  queue.OnResult(GetParam());
  EXPECT_TRUE(queue.has_retry());
  EXPECT_FALSE(queue.in_flight());
  EXPECT_EQ(queue.durable_seq(), CommitSeq(0));
  EXPECT_THAT(queue.last_durable_rows(), IsEmpty());
  EXPECT_EQ(queue.pending_rows(), 3U);
  EXPECT_EQ(queue.Free(), 3U);

  EXPECT_EQ(queue.Seal(), batch);
  EXPECT_FALSE(queue.has_retry());
  EXPECT_EQ(batch->attempts, 2U);
  EXPECT_EQ(batch->last, CommitSeq(2));
  EXPECT_THAT(Rows(batch->rows), ElementsAre(AddressVersion(1, 1), AddressVersion(2, 1)));
  queue.OnResult(BatchOutcome::kDurable);
  EXPECT_EQ(queue.durable_seq(), CommitSeq(2));
  EXPECT_FALSE(queue.has_retry());

  const LeaseBatch* later = queue.Seal();
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(later->attempts, 1U);
  EXPECT_THAT(Rows(later->rows), ElementsAre(AddressVersion(1, 2)));
  EXPECT_EQ(later->last, CommitSeq(3));
}

INSTANTIATE_TEST_SUITE_P(Outcomes, CommitQueueRetryTest,
                         testing::Values(BatchOutcome::kFailed, BatchOutcome::kUnknown),
                         [](const testing::TestParamInfo<BatchOutcome>& test) {
                           return test.param == BatchOutcome::kFailed ? "Failed" : "Unknown";
                         });

TEST(CommitQueueDeathTest, ChecksItsCallers) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(CommitQueue(0), "rows_max");
  EXPECT_DEATH(CommitQueue(65537), "rows_max");
  CommitQueue queue(1);
  EXPECT_DEATH(queue.OnResult(BatchOutcome::kDurable), "in_flight_");
  queue.Append(Row(1, 1));
  EXPECT_DEATH(queue.Append(Row(2, 1)), "Free");
}

// A plain model of the queue: what was appended, in order, and how much of it is durable.
class Model {
 public:
  explicit Model(std::size_t rows_max) : rows_max_(rows_max) {}

  std::size_t Free() const { return rows_max_ - gathering_.size(); }
  std::size_t Pending() const { return gathering_.size() + sealed_.size(); }
  bool in_flight() const { return in_flight_; }
  std::uint64_t last() const { return last_; }
  std::uint64_t durable() const { return durable_; }
  const std::map<std::uint32_t, std::uint64_t>& sealed() const { return sealed_; }

  void Append(std::uint32_t address, std::uint64_t version) {
    gathering_[address] = version;
    ++last_;
  }
  /// Whether a batch goes to the store.
  bool Seal() {
    if (in_flight_) return false;
    if (sealed_.empty()) {
      sealed_.swap(gathering_);
      sealed_last_ = last_;
    }
    in_flight_ = !sealed_.empty();
    return in_flight_;
  }
  void OnResult(BatchOutcome outcome) {
    in_flight_ = false;
    if (outcome != BatchOutcome::kDurable) return;
    durable_ = sealed_last_;
    sealed_.clear();
  }

 private:
  std::size_t rows_max_;
  std::map<std::uint32_t, std::uint64_t> gathering_;
  std::map<std::uint32_t, std::uint64_t> sealed_;
  std::uint64_t sealed_last_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t durable_ = 0;
  bool in_flight_ = false;
};

std::map<std::uint32_t, std::uint64_t> AsMap(std::span<const LeaseRecord> rows) {
  std::map<std::uint32_t, std::uint64_t> map;
  for (const LeaseRecord& row : rows) map.emplace(row.address.value, row.version);
  return map;
}

TEST(CommitQueueTest, AgreesWithThePlainModelOverAMillionOperations) {
  constexpr std::size_t kRows = 48;
  constexpr std::uint32_t kAddresses = 96;
  Prng prng(20260);
  CommitQueue queue(kRows);
  Model model(kRows);
  std::vector<std::uint64_t> versions(kAddresses, 0);
  const LeaseBatch* batch = nullptr;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t operation = prng.Below(100);
    if (operation < 90) {
      if (queue.Free() > 0) {
        const auto address = static_cast<std::uint32_t>(prng.Below(kAddresses));
        const std::uint64_t version = ++versions[address];
        model.Append(address, version);
        ASSERT_EQ(queue.Append(Row(address, version)).value, model.last());
      }
    } else if (operation < 95 || !model.in_flight()) {
      const LeaseBatch* const sealed = queue.Seal();
      ASSERT_EQ(sealed != nullptr, model.Seal());
      if (sealed != nullptr) batch = sealed;
    } else {
      ASSERT_EQ(AsMap(batch->rows), model.sealed());
      ASSERT_EQ(batch->rows.size(), model.sealed().size());  // one row per address
      const auto outcome = static_cast<BatchOutcome>(prng.Below(3));
      const std::map<std::uint32_t, std::uint64_t> sent = model.sealed();
      queue.OnResult(outcome);
      model.OnResult(outcome);
      if (outcome == BatchOutcome::kDurable) {
        ASSERT_EQ(AsMap(queue.last_durable_rows()), sent);
      }
    }
    ASSERT_EQ(queue.Free(), model.Free());
    ASSERT_EQ(queue.pending_rows(), model.Pending());
    ASSERT_EQ(queue.in_flight(), model.in_flight());
    ASSERT_EQ(queue.has_retry(), !model.in_flight() && !model.sealed().empty());
    ASSERT_EQ(queue.durable_seq().value, model.durable());
  }
}

}  // namespace
}  // namespace ringdhcp
