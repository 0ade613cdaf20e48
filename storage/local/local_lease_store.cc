#include "storage/local/local_lease_store.h"

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rocksdb/write_batch.h"
#include "storage/local/data_directory.h"
#include "storage/local/database.h"
#include "storage/local/lease_row.h"

namespace ringdhcp {

namespace {

constexpr char kOutboxLastKey[] = "outbox_last";

std::string_view AsText(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice AsSlice(std::string_view text) { return {text.data(), text.size()}; }
template <std::size_t kSize>
rocksdb::Slice AsSlice(const std::array<char, kSize>& key) {
  return {key.data(), key.size()};
}

class LocalLeaseStore final : public LeaseStore {
 public:
  LocalLeaseStore(const LocalStoreOptions& options, std::unique_ptr<DataDirectory> directory)
      : options_(options), directory_(std::move(directory)) {}

  /// Opens the database, again after an error; OK when it is open.
  absl::Status Open();
  absl::Status LoadAll(const std::function<void(const LeaseRecord&)>& row) override;
  BatchResult Commit(std::span<const LeaseRecord> rows) override;
  std::string_view name() const override { return "local"; }

 private:
  absl::Status FindOutboxEnd(Database& database);
  rocksdb::Status FillBatch(std::span<const LeaseRecord> rows);

  const LocalStoreOptions options_;
  const std::unique_ptr<DataDirectory> directory_;  // outlives the database
  std::unique_ptr<Database> database_;              // null after an error, until Open succeeds
  std::uint64_t outbox_last_ = 0;                   // the position last used
  LeaseRowCodec codec_;
  rocksdb::WriteBatch batch_;
};

absl::Status LocalLeaseStore::Open() {
  if (database_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory_->path());
  if (!database.ok()) return database.status();
  if (absl::Status found = FindOutboxEnd(**database); !found.ok()) return found;
  database_ = *std::move(database);
  return absl::OkStatus();
}

absl::Status LocalLeaseStore::FindOutboxEnd(Database& database) {
  std::string value;
  const rocksdb::Status status =
      database.db().Get(rocksdb::ReadOptions(), database.meta(), kOutboxLastKey, &value);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return DescribeError(status, directory_->path());
  const auto position = ParseBigEndianKey<std::uint64_t>(value);
  if (!position.has_value()) {
    return DescribeError(rocksdb::Status::Corruption("the end of the outbox is unreadable"),
                         directory_->path());
  }
  outbox_last_ = *position;
  return absl::OkStatus();
}

absl::Status LocalLeaseStore::LoadAll(const std::function<void(const LeaseRecord&)>& row) {
  if (absl::Status opened = Open(); !opened.ok()) return opened;
  rocksdb::ReadOptions options;
  options.fill_cache = false;  // each row is read once
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->leases()));
  std::uint64_t damaged = 0;
  std::string first_damaged;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::optional<LeaseRecord> record = codec_.Decode(AsText(it->key()), AsText(it->value()));
    if (record.has_value()) {
      row(*record);
      continue;
    }
    if (damaged++ > 0) continue;
    const auto address = ParseBigEndianKey<std::uint32_t>(AsText(it->key()));
    first_damaged = address.has_value() ? Ipv4Address(*address).ToString() : "no address";
  }
  if (!it->status().ok()) return DescribeError(it->status(), directory_->path());
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "the store in ", directory_->path(), ": ", damaged, " damaged rows skipped, the first for ",
      first_damaged, ": check the disk; restore the directory from a backup, or go on without ",
      "these leases"));
}

rocksdb::Status LocalLeaseStore::FillBatch(std::span<const LeaseRecord> rows) {
  batch_.Clear();
  for (const LeaseRecord& row : rows) {
    const rocksdb::Slice value = AsSlice(codec_.Encode(row));
    const auto key = BigEndianKey(row.address.value);
    rocksdb::Status status = batch_.Merge(database_->leases(), AsSlice(key), value);
    if (status.ok() && options_.outbox) {
      const auto position = BigEndianKey(++outbox_last_);
      status = batch_.Put(database_->outbox(), AsSlice(position), value);
    }
    if (!status.ok()) return status;
  }
  if (!options_.outbox) return rocksdb::Status::OK();
  // Kept apart from the rows: positions must go on rising after a replicator took all of them.
  const auto last = BigEndianKey(outbox_last_);
  return batch_.Put(database_->meta(), kOutboxLastKey, AsSlice(last));
}

BatchResult LocalLeaseStore::Commit(std::span<const LeaseRecord> rows) {
  bool written = false;
  try {
    if (absl::Status opened = Open(); !opened.ok()) return {BatchOutcome::kFailed, opened};
    rocksdb::Status status = FillBatch(rows);
    if (!status.ok()) {
      return {BatchOutcome::kFailed, DescribeError(status, directory_->path())};
    }
    rocksdb::WriteOptions options;
    options.sync = options_.synced;
    written = true;
    status = database_->db().Write(options, &batch_);
    if (status.ok()) return {BatchOutcome::kDurable, absl::OkStatus()};
    // RocksDB takes no writes after an error. Its Resume() may go on with the log file whose end is
    // now damaged, and gives up on some errors; to close and recover from the log always works. The
    // next commit does it, and fails, with nothing stored, while the cause lasts.
    database_.reset();
    return {BatchOutcome::kUnknown, DescribeError(status, directory_->path())};
  } catch (const std::exception& e) {
    return {written ? BatchOutcome::kUnknown : BatchOutcome::kFailed,
            absl::InternalError(absl::StrCat("the store in ", directory_->path(), ": ", e.what()))};
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LeaseStore>> OpenLocalLeaseStore(const LocalStoreOptions& options) {
  absl::StatusOr<std::unique_ptr<DataDirectory>> directory =
      DataDirectory::Acquire(options.directory);
  if (!directory.ok()) return directory.status();
  auto store = std::make_unique<LocalLeaseStore>(options, *std::move(directory));
  if (absl::Status opened = store->Open(); !opened.ok()) return opened;
  return std::unique_ptr<LeaseStore>(std::move(store));
}

}  // namespace ringdhcp
