// kill -9 in the middle of commits: every batch that was reported durable is there afterwards.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "test/contract/store/store_support.h"
#include "test/contract/store/victim/crash_batches.h"

namespace ringdhcp {
namespace {

struct Victim {
  pid_t pid = -1;
  int reports = -1;
};

/// A new process, not a fork of this one: RocksDB's threads do not survive a fork.
Victim Start(const std::string& directory, std::uint64_t first, bool synced) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kReportFd);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> arguments = {RINGDHCP_STORE_CRASH_VICTIM, directory,
                                        std::to_string(first), synced ? "synced" : "unsynced"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Victim victim;
  EXPECT_EQ(posix_spawn(&victim.pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  victim.reports = ends[0];
  return victim;
}

/// The next number reported, 0 at the end.
std::uint64_t ReadReport(const Victim& victim) {
  std::uint64_t batch = 0;
  return read(victim.reports, &batch, sizeof(batch)) == sizeof(batch) ? batch : 0;
}

class LocalStoreKillTest : public testing::TestWithParam<bool> {};

TEST_P(LocalStoreKillTest, KeepsWhatItReportedDurable) {
  const TemporaryDirectory directory;
  std::uint64_t last = 0;
  Prng prng(11);
  for (int round = 0; round < 6; ++round) {
    const Victim victim = Start(directory.path(), last + 1, GetParam());
    ASSERT_GT(victim.pid, 0);
    const std::uint64_t enough = last + 20 + prng.Below(60);
    for (std::uint64_t batch = last; batch < enough; last = batch) {
      batch = ReadReport(victim);
      ASSERT_NE(batch, 0U) << "the victim ended by itself";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(prng.Below(3000)));
    kill(victim.pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(victim.pid, &status, 0), victim.pid);
    ASSERT_TRUE(WIFSIGNALED(status));
    for (std::uint64_t batch = ReadReport(victim); batch != 0; batch = ReadReport(victim)) {
      last = batch;
    }
    close(victim.reports);

    const RowMap rows = Reload(directory.path());
    const std::uint64_t oldest = last > 60 ? last - 60 : 1;  // older ones were overwritten
    for (std::uint64_t batch = oldest; batch <= last; ++batch) {
      for (const LeaseRecord& row : BatchOf(batch)) {
        const auto found = rows.find(row.address.value);
        ASSERT_NE(found, rows.end()) << "batch " << batch;
        ASSERT_GE(found->second.version, batch);
      }
    }
    for (const auto& [address, row] : rows) ASSERT_LE(row.version, last + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Durabilities, LocalStoreKillTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& test) {
                           return test.param ? "Synced" : "Relaxed";
                         });

}  // namespace
}  // namespace ringdhcp
