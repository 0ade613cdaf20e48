#include "test/contract/store/store_support.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "gtest/gtest.h"
#include "server/base/check.h"
#include "storage/local/local_lease_store.h"

namespace ringdhcp {

namespace {

template <std::size_t kSize>
std::uint8_t FillRandom(Prng& prng, std::array<std::uint8_t, kSize>& octets) {
  // Empty and full more often than chance has it.
  const std::uint64_t kind = prng.Below(8);
  const std::size_t length = kind == 0 ? 0 : kind == 1 ? kSize : prng.Below(kSize + 1);
  for (std::size_t i = 0; i < length; ++i) octets[i] = static_cast<std::uint8_t>(prng.Next());
  return static_cast<std::uint8_t>(length);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = testing::TempDir() + "/ringdhcp-store-" + std::string(6, 'X');
  RINGDHCP_CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

LeaseRecord SmallRow(std::uint32_t address, std::uint64_t version) {
  LeaseRecord row;
  row.address = Ipv4Address(address);
  row.subnet = SubnetId(1);
  row.state = LeaseState::kBound;
  row.version = version;
  row.starts_wall_s = 1'700'000'000;
  row.expires_wall_s = 1'700'003'600;
  row.htype = 1;
  row.hlen = 6;
  for (std::size_t i = 0; i < 4; ++i) {
    row.chaddr[i + 2] = static_cast<std::uint8_t>(address >> (8 * (3 - i)));
  }
  return row;
}

LeaseRecord RandomRow(Prng& prng, std::uint32_t address, std::uint64_t version) {
  LeaseRecord row;
  row.address = Ipv4Address(address);
  row.subnet = SubnetId(static_cast<std::uint32_t>(prng.Next()));
  row.state = static_cast<LeaseState>(2 + prng.Below(4));
  row.version = version;
  row.starts_wall_s = static_cast<std::int64_t>(prng.Below(1ULL << 40));
  row.expires_wall_s =
      prng.Below(4) == 0 ? kNeverExpires : static_cast<std::int64_t>(prng.Below(1ULL << 40));
  row.htype = static_cast<std::uint8_t>(prng.Next());
  row.hlen = FillRandom(prng, row.chaddr);
  row.client_id_length = FillRandom(prng, row.client_id);
  row.host_name_length = FillRandom(prng, row.host_name);
  row.relay_information_length = FillRandom(prng, row.relay_information);
  return row;
}

void SetHostName(LeaseRecord& row, std::string_view text) {
  RINGDHCP_CHECK(text.size() <= row.host_name.size());
  row.host_name = {};
  std::copy(text.begin(), text.end(), row.host_name.begin());
  row.host_name_length = static_cast<std::uint8_t>(text.size());
}

bool SameRow(const LeaseRecord& a, const LeaseRecord& b) {
  return a.address == b.address && a.subnet == b.subnet && a.state == b.state &&
         a.version == b.version && a.starts_wall_s == b.starts_wall_s &&
         a.expires_wall_s == b.expires_wall_s && a.htype == b.htype && a.hlen == b.hlen &&
         a.chaddr == b.chaddr && a.client_id_length == b.client_id_length &&
         a.host_name_length == b.host_name_length &&
         a.relay_information_length == b.relay_information_length && a.client_id == b.client_id &&
         a.host_name == b.host_name && a.relay_information == b.relay_information;
}

RowMap Load(LeaseStore& store, absl::Status* status) {
  RowMap rows;
  const absl::Status loaded = store.LoadAll([&rows](const LeaseRecord& row) {
    EXPECT_TRUE(rows.emplace(row.address.value, row).second) << row.address.ToString();
  });
  if (status != nullptr) {
    *status = loaded;
  } else {
    EXPECT_TRUE(loaded.ok()) << loaded;
  }
  return rows;
}

void CommitDurably(LeaseStore& store, const std::vector<LeaseRecord>& rows) {
  const BatchResult result = store.Commit(rows);
  ASSERT_EQ(result.outcome, BatchOutcome::kDurable) << result.status;
  ASSERT_TRUE(result.status.ok()) << result.status;
}

std::unique_ptr<LeaseStore> OpenStore(const std::string& directory, bool synced, bool outbox) {
  LocalStoreOptions options;
  options.directory = directory;
  options.synced = synced;
  options.outbox = outbox;
  absl::StatusOr<std::unique_ptr<JournalStore>> store = OpenLocalLeaseStore(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

RowMap Reload(const std::string& directory) {
  const std::unique_ptr<LeaseStore> store = OpenStore(directory);
  return store == nullptr ? RowMap() : Load(*store);
}

void ExpectSameRows(const RowMap& actual, const RowMap& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  for (const auto& [address, row] : expected) {
    const auto found = actual.find(address);
    if (found == actual.end()) {
      ADD_FAILURE() << row.address.ToString() << " is missing";
      continue;
    }
    EXPECT_TRUE(SameRow(found->second, row))
        << row.address.ToString() << ": version " << found->second.version << ", expected "
        << row.version;
  }
}

}  // namespace ringdhcp
