#include "storage/store_thread.h"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"

namespace ringdhcp {
namespace {

/// What the store under a StoreThread saw; outlives it.
struct Seen {
  std::atomic<int> commits{0};
  std::atomic<std::uint64_t> rows{0};
  std::atomic<bool> hold{false};  // Commit waits while set
  std::string thread_name;        // read after the thread ended or a result was taken
  bool blocks_sigterm = false;
};

class FakeStore final : public LeaseStore {
 public:
  enum class Behaviour { kDurable, kFailed, kThrow, kThrowNumber };
  FakeStore(Seen& seen, Behaviour behaviour) : seen_(seen), behaviour_(behaviour) {}

  absl::Status LoadAll(const std::function<void(const LeaseRecord&)>&) override {
    return absl::OkStatus();
  }
  BatchResult Commit(std::span<const LeaseRecord> rows) override {
    while (seen_.hold.load()) std::this_thread::yield();
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    seen_.thread_name = name.data();
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    seen_.blocks_sigterm = sigismember(&mask, SIGTERM) == 1;
    seen_.rows += rows.size();
    ++seen_.commits;
    if (behaviour_ == Behaviour::kThrow) throw std::runtime_error("boom");
    if (behaviour_ == Behaviour::kThrowNumber) throw 7;
    if (behaviour_ == Behaviour::kFailed) {
      return {BatchOutcome::kFailed, absl::UnavailableError("no disk")};
    }
    return {BatchOutcome::kDurable, absl::OkStatus()};
  }
  std::string_view name() const override { return "fake"; }

 private:
  Seen& seen_;
  const Behaviour behaviour_;
};

/// Wakes the test as the eventfd wakes the shard.
class Waker {
 public:
  std::function<void()> Callback() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++wakes_;
      changed_.notify_all();
    };
  }
  void WaitFor(int wakes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return wakes_ >= wakes; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int wakes_ = 0;
};

LeaseBatch Batch(std::size_t rows) {
  LeaseBatch batch;
  batch.rows.resize(rows);
  return batch;
}

StoreThread MakeThread(Seen& seen, Waker& waker,
                       FakeStore::Behaviour behaviour = FakeStore::Behaviour::kDurable) {
  return StoreThread(std::make_unique<FakeStore>(seen, behaviour), waker.Callback());
}

TEST(StoreThreadTest, EndsWithoutABatch) {
  Seen seen;
  Waker waker;
  StoreThread thread = MakeThread(seen, waker);
  EXPECT_FALSE(thread.TakeResult().has_value());
}

TEST(StoreThreadTest, GivesEachResultOnce) {
  Seen seen;
  Waker waker;
  StoreThread thread = MakeThread(seen, waker);
  const LeaseBatch batch = Batch(3);
  thread.Submit(&batch);
  waker.WaitFor(1);
  const auto result = thread.TakeResult();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->result.outcome, BatchOutcome::kDurable);
  EXPECT_TRUE(result->result.status.ok());
  EXPECT_GE(result->commit_ns, 0);
  EXPECT_FALSE(thread.TakeResult().has_value());
  EXPECT_EQ(seen.rows, 3U);
  EXPECT_EQ(seen.thread_name, "ringdhcp-store");
  EXPECT_TRUE(seen.blocks_sigterm);
}

TEST(StoreThreadTest, NeitherCallWaitsForTheStore) {
  Seen seen;
  seen.hold = true;
  Waker waker;
  StoreThread thread = MakeThread(seen, waker);
  const LeaseBatch batch = Batch(1);
  thread.Submit(&batch);
  EXPECT_FALSE(thread.TakeResult().has_value());
  EXPECT_EQ(seen.commits, 0);
  seen.hold = false;
  waker.WaitFor(1);
  EXPECT_TRUE(thread.TakeResult().has_value());
}

TEST(StoreThreadTest, PassesFailuresOn) {
  Seen seen;
  Waker waker;
  StoreThread thread = MakeThread(seen, waker, FakeStore::Behaviour::kFailed);
  const LeaseBatch batch = Batch(1);
  for (int i = 1; i <= 3; ++i) {
    thread.Submit(&batch);
    waker.WaitFor(i);
    const auto result = thread.TakeResult();
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->result.outcome, BatchOutcome::kFailed);
    EXPECT_EQ(result->result.status, absl::UnavailableError("no disk"));
  }
}

TEST(StoreThreadTest, AnExceptionIsAnUnknownOutcome) {
  for (const auto behaviour : {FakeStore::Behaviour::kThrow, FakeStore::Behaviour::kThrowNumber}) {
    Seen seen;
    Waker waker;
    StoreThread thread = MakeThread(seen, waker, behaviour);
    const LeaseBatch batch = Batch(1);
    thread.Submit(&batch);
    waker.WaitFor(1);
    const auto result = thread.TakeResult();
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->result.outcome, BatchOutcome::kUnknown);
    EXPECT_EQ(result->result.status.code(), absl::StatusCode::kInternal);
  }
}

TEST(StoreThreadTest, SurvivesAWakeThatThrowsOrIsAbsent) {
  for (const std::function<void()>& wake :
       {std::function<void()>(), std::function<void()>([] { throw std::runtime_error("boom"); })}) {
    Seen seen;
    StoreThread thread(std::make_unique<FakeStore>(seen, FakeStore::Behaviour::kDurable), wake);
    const LeaseBatch batch = Batch(1);
    for (int i = 0; i < 2; ++i) {
      thread.Submit(&batch);
      while (!thread.TakeResult().has_value()) std::this_thread::yield();
    }
    EXPECT_EQ(seen.commits, 2);
  }
}

TEST(StoreThreadTest, FinishesTheBatchInHandBeforeItEnds) {
  for (int i = 0; i < 100; ++i) {
    Seen seen;
    Waker waker;
    const LeaseBatch batch = Batch(1);
    {
      StoreThread thread = MakeThread(seen, waker);
      thread.Submit(&batch);
    }
    ASSERT_EQ(seen.commits, 1);
  }
}

TEST(StoreThreadTest, CarriesManyBatchesOfAQueue) {
  Seen seen;
  StoreThread thread(std::make_unique<FakeStore>(seen, FakeStore::Behaviour::kDurable), [] {});
  CommitQueue queue(16);
  std::uint32_t next = 0;
  while (queue.durable_seq().value < 20'000) {
    if (queue.Free() > 0 && next < 20'000) {
      LeaseRecord row;
      row.address = Ipv4Address(++next);
      queue.Append(row);
    }
    if (const LeaseBatch* batch = queue.Seal()) thread.Submit(batch);
    if (const auto result = thread.TakeResult()) queue.OnResult(result->result.outcome);
  }
  EXPECT_EQ(seen.rows, 20'000U);
}

TEST(StoreThreadDeathTest, OneBatchAtATime) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        Seen seen;
        Waker waker;
        StoreThread thread = MakeThread(seen, waker);
        const LeaseBatch batch = Batch(1);
        thread.Submit(&batch);
        waker.WaitFor(1);
        thread.Submit(&batch);  // the result was not taken yet
      },
      "in_flight");
}

}  // namespace
}  // namespace ringdhcp
