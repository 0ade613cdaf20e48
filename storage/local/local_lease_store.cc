#include "storage/local/local_lease_store.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
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
constexpr char kResyncThroughKey[] = "resync_through";

std::string_view AsText(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice AsSlice(std::string_view text) { return {text.data(), text.size()}; }
template <std::size_t kSize>
rocksdb::Slice AsSlice(const std::array<char, kSize>& key) {
  return {key.data(), key.size()};
}

rocksdb::WriteOptions Synced(bool synced) {
  rocksdb::WriteOptions options;
  options.sync = synced;
  return options;
}

/// Of the starting thread, then of the thread that commits, except where "Any thread" is said.
class LocalLeaseStore final : public JournalStore {
 public:
  LocalLeaseStore(const LocalStoreOptions& options, std::unique_ptr<DataDirectory> directory)
      : options_(options), directory_(std::move(directory)) {}

  /// Opens the database, again after an error; OK when it is open.
  absl::Status Open();
  absl::Status LoadAll(const std::function<void(const LeaseRecord&)>& row) override;
  BatchResult Commit(std::span<const LeaseRecord> rows) override;
  std::string_view name() const override { return "local"; }
  std::string Uuid() const override { return uuid_; }
  absl::Status Import(std::span<const LeaseRecord> rows, bool sync) override;
  absl::Status RaiseLast(std::uint64_t position) override;

  // Any thread.
  OutboxEnds Ends() const override;
  absl::Status ReadFrom(std::uint64_t after, std::size_t max,
                        std::vector<OutboxRow>& rows) override;
  absl::Status TrimThrough(std::uint64_t position) override;
  absl::Status ReadLeases(std::optional<std::uint32_t> after, std::size_t max,
                          std::vector<LeaseRecord>& rows) override;
  absl::Status BeginResync() override;
  absl::Status EndResync(std::uint64_t through) override;

 private:
  absl::StatusOr<std::optional<std::uint64_t>> ReadPosition(Database& database, const char* key);
  absl::Status ReadEnds(Database& database);
  absl::Status MarkEarlierLeases(Database& database, OutboxEnds& ends);
  rocksdb::Status FillBatch(std::span<const LeaseRecord> rows, OutboxEnds& ends);
  void SetEnds(const OutboxEnds& ends);
  absl::Status Described(const rocksdb::Status& status) const;
  absl::Status Closed() const;

  const LocalStoreOptions options_;
  const std::unique_ptr<DataDirectory> directory_;  // outlives the database
  std::string uuid_;
  bool outbox_used_ = false;  // there is, or was, an outbox
  // Null after an error, until Open succeeds. Only the committing thread changes it, with the mutex
  // held alone; other threads hold it shared while they use the database.
  mutable std::shared_mutex database_mutex_;
  std::unique_ptr<Database> database_;
  // Held while the mark of a resync is written, so that two threads never write it at once.
  std::mutex resync_mutex_;
  mutable std::mutex ends_mutex_;  // guards ends_; the last one taken
  OutboxEnds ends_;
  LeaseRowCodec codec_;
  rocksdb::WriteBatch batch_;
};

absl::Status LocalLeaseStore::Described(const rocksdb::Status& status) const {
  return status.ok() ? absl::OkStatus() : DescribeError(status, directory_->path());
}

absl::Status LocalLeaseStore::Closed() const {
  return absl::UnavailableError(
      absl::StrCat("the store in ", directory_->path(), " is closed after an error"));
}

absl::Status LocalLeaseStore::Open() {
  if (database_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory_->path());
  if (!database.ok()) return database.status();
  if (absl::Status read = ReadEnds(**database); !read.ok()) return read;
  const std::unique_lock lock(database_mutex_);
  database_ = *std::move(database);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::uint64_t>> LocalLeaseStore::ReadPosition(Database& database,
                                                                           const char* key) {
  std::string value;
  const rocksdb::Status status =
      database.db().Get(rocksdb::ReadOptions(), database.meta(), key, &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return Described(status);
  const auto position = ParseBigEndianKey<std::uint64_t>(value);
  if (!position.has_value()) {
    return Described(rocksdb::Status::Corruption(absl::StrCat("its ", key, " is unreadable")));
  }
  return position;
}

absl::Status LocalLeaseStore::ReadEnds(Database& database) {
  const auto last = ReadPosition(database, kOutboxLastKey);
  if (!last.ok()) return last.status();
  const auto resync = ReadPosition(database, kResyncThroughKey);
  if (!resync.ok()) return resync.status();
  outbox_used_ = last->has_value();
  OutboxEnds ends;
  ends.last = last->value_or(0);
  ends.trimmed = ends.last;
  ends.resync_through = *resync;
  const std::unique_ptr<rocksdb::Iterator> it(
      database.db().NewIterator(rocksdb::ReadOptions(), database.outbox()));
  it->SeekToFirst();
  if (it->Valid()) {
    const auto first = ParseBigEndianKey<std::uint64_t>(AsText(it->key()));
    if (first.has_value() && *first <= ends.last) ends.trimmed = *first - 1;
  } else if (!it->status().ok()) {
    return Described(it->status());
  }
  if (absl::Status read = Described(database.ReadUuid(&uuid_)); !read.ok()) return read;
  if (options_.outbox && !last->has_value() && !ends.resync_through.has_value()) {
    if (absl::Status marked = MarkEarlierLeases(database, ends); !marked.ok()) return marked;
  }
  SetEnds(ends);
  return absl::OkStatus();
}

/// Leases from before the outbox was first switched on are missing from it.
absl::Status LocalLeaseStore::MarkEarlierLeases(Database& database, OutboxEnds& ends) {
  const std::unique_ptr<rocksdb::Iterator> it(
      database.db().NewIterator(rocksdb::ReadOptions(), database.leases()));
  it->SeekToFirst();
  if (!it->Valid()) return Described(it->status());
  const auto position = BigEndianKey(ends.last);
  rocksdb::WriteBatch mark;
  rocksdb::Status status = mark.Put(database.meta(), kResyncThroughKey, AsSlice(position));
  // With an end there is an outbox, and the next start does not look again.
  if (status.ok()) status = mark.Put(database.meta(), kOutboxLastKey, AsSlice(position));
  if (status.ok()) status = database.db().Write(Synced(true), &mark);
  ends.resync_through = ends.last;
  return Described(status);
}

OutboxEnds LocalLeaseStore::Ends() const {
  const std::lock_guard lock(ends_mutex_);
  return ends_;
}

void LocalLeaseStore::SetEnds(const OutboxEnds& ends) {
  const std::lock_guard lock(ends_mutex_);
  ends_ = ends;
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

rocksdb::Status LocalLeaseStore::FillBatch(std::span<const LeaseRecord> rows, OutboxEnds& ends) {
  batch_.Clear();
  for (const LeaseRecord& row : rows) {
    const rocksdb::Slice value = AsSlice(codec_.Encode(row));
    const auto key = BigEndianKey(row.address.value);
    rocksdb::Status status = batch_.Merge(database_->leases(), AsSlice(key), value);
    if (status.ok() && options_.outbox) {
      const auto position = BigEndianKey(++ends.last);
      status = batch_.Put(database_->outbox(), AsSlice(position), value);
    }
    if (!status.ok()) return status;
  }
  const bool full = options_.outbox_rows_max > 0 && ends.rows() >= options_.outbox_rows_max;
  // Without the outbox these rows will be missing from it, which matters if it was ever used.
  const bool missed = !options_.outbox && outbox_used_ && !ends.resync_through.has_value();
  rocksdb::Status status;
  if (options_.outbox) {
    // Kept apart from the rows: positions must go on rising after a replicator took all of them.
    const auto last = BigEndianKey(ends.last);
    status = batch_.Put(database_->meta(), kOutboxLastKey, AsSlice(last));
  }
  if (status.ok() && (full || missed)) {
    const auto through = BigEndianKey(ends.last);
    status = batch_.Put(database_->meta(), kResyncThroughKey, AsSlice(through));
    ends.resync_through = ends.last;
  }
  if (status.ok() && full) {
    const auto end = BigEndianKey(ends.last + 1);
    status = batch_.DeleteRange(database_->outbox(), "", AsSlice(end));
    ends.trimmed = ends.last;
  }
  return status;
}

BatchResult LocalLeaseStore::Commit(std::span<const LeaseRecord> rows) {
  bool written = false;
  try {
    if (absl::Status opened = Open(); !opened.ok()) return {BatchOutcome::kFailed, opened};
    OutboxEnds ends = Ends();
    const std::optional<std::uint64_t> resync_before = ends.resync_through;
    rocksdb::Status status = FillBatch(rows, ends);
    if (!status.ok()) return {BatchOutcome::kFailed, Described(status)};
    written = true;
    {
      std::unique_lock resync(resync_mutex_, std::defer_lock);
      if (ends.resync_through != resync_before) resync.lock();
      status = database_->db().Write(Synced(options_.synced), &batch_);
      if (status.ok()) {
        const std::lock_guard lock(ends_mutex_);
        ends_.last = ends.last;
        if (ends.trimmed > ends_.trimmed) ends_.trimmed = ends.trimmed;
        if (ends.resync_through != resync_before) ends_.resync_through = ends.resync_through;
        return {BatchOutcome::kDurable, absl::OkStatus()};
      }
    }
    // RocksDB takes no writes after an error. Its Resume() may go on with the log file whose end is
    // now damaged, and gives up on some errors; to close and recover from the log always works. The
    // next commit does it, and fails, with nothing stored, while the cause lasts.
    const std::unique_lock lock(database_mutex_);
    database_.reset();
    return {BatchOutcome::kUnknown, Described(status)};
  } catch (const std::exception& e) {
    return {written ? BatchOutcome::kUnknown : BatchOutcome::kFailed,
            absl::InternalError(absl::StrCat("the store in ", directory_->path(), ": ", e.what()))};
  }
}

absl::Status LocalLeaseStore::Import(std::span<const LeaseRecord> rows, bool sync) {
  if (absl::Status opened = Open(); !opened.ok()) return opened;
  batch_.Clear();
  for (const LeaseRecord& row : rows) {
    const auto key = BigEndianKey(row.address.value);
    const rocksdb::Status status =
        batch_.Merge(database_->leases(), AsSlice(key), AsSlice(codec_.Encode(row)));
    if (!status.ok()) return Described(status);
  }
  return Described(database_->db().Write(Synced(sync), &batch_));
}

absl::Status LocalLeaseStore::RaiseLast(std::uint64_t position) {
  if (absl::Status opened = Open(); !opened.ok()) return opened;
  OutboxEnds ends = Ends();
  if (position <= ends.last) return absl::OkStatus();
  const auto value = BigEndianKey(position);
  const rocksdb::Status status =
      database_->db().Put(Synced(true), database_->meta(), kOutboxLastKey, AsSlice(value));
  if (!status.ok()) return Described(status);
  if (ends.trimmed == ends.last) ends.trimmed = position;
  ends.last = position;
  SetEnds(ends);
  return absl::OkStatus();
}

absl::Status LocalLeaseStore::ReadFrom(std::uint64_t after, std::size_t max,
                                       std::vector<OutboxRow>& rows) {
  const std::shared_lock lock(database_mutex_);
  if (database_ == nullptr) return Closed();
  LeaseRowCodec codec;
  const auto begin = BigEndianKey(after + 1);
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(rocksdb::ReadOptions(), database_->outbox()));
  for (it->Seek(AsSlice(begin)); it->Valid() && max > 0; it->Next(), --max) {
    const auto position = ParseBigEndianKey<std::uint64_t>(AsText(it->key()));
    const std::optional<LeaseRecord> record = codec.DecodeOutbox(AsText(it->value()));
    if (!position.has_value() || !record.has_value()) {
      return Described(rocksdb::Status::Corruption("a row of the outbox is damaged"));
    }
    rows.push_back({*position, *record});
  }
  return Described(it->status());
}

absl::Status LocalLeaseStore::TrimThrough(std::uint64_t position) {
  const std::shared_lock lock(database_mutex_);
  if (database_ == nullptr) return Closed();
  const auto end = BigEndianKey(position + 1);
  const rocksdb::Status status =
      database_->db().DeleteRange(Synced(false), database_->outbox(), "", AsSlice(end));
  if (!status.ok()) return Described(status);
  const std::lock_guard ends_lock(ends_mutex_);
  ends_.trimmed = std::max(ends_.trimmed, std::min(position, ends_.last));
  return absl::OkStatus();
}

absl::Status LocalLeaseStore::ReadLeases(std::optional<std::uint32_t> after, std::size_t max,
                                         std::vector<LeaseRecord>& rows) {
  if (after == std::numeric_limits<std::uint32_t>::max()) return absl::OkStatus();
  const std::shared_lock lock(database_mutex_);
  if (database_ == nullptr) return Closed();
  LeaseRowCodec codec;
  const auto begin = BigEndianKey(after.has_value() ? *after + 1 : 0);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db().NewIterator(options, database_->leases()));
  for (it->Seek(AsSlice(begin)); it->Valid() && max > 0; it->Next()) {
    // Damaged rows are LoadAll's to report.
    const std::optional<LeaseRecord> record = codec.Decode(AsText(it->key()), AsText(it->value()));
    if (!record.has_value()) continue;
    rows.push_back(*record);
    --max;
  }
  return Described(it->status());
}

absl::Status LocalLeaseStore::BeginResync() {
  const std::shared_lock lock(database_mutex_);
  if (database_ == nullptr) return Closed();
  const std::lock_guard resync_lock(resync_mutex_);
  const std::uint64_t through = Ends().last;
  const auto value = BigEndianKey(through);
  const rocksdb::Status status =
      database_->db().Put(Synced(true), database_->meta(), kResyncThroughKey, AsSlice(value));
  if (!status.ok()) return Described(status);
  const std::lock_guard ends_lock(ends_mutex_);
  ends_.resync_through = through;
  return absl::OkStatus();
}

absl::Status LocalLeaseStore::EndResync(std::uint64_t through) {
  const std::shared_lock lock(database_mutex_);
  if (database_ == nullptr) return Closed();
  const std::lock_guard resync_lock(resync_mutex_);
  if (Ends().resync_through != through) return absl::OkStatus();
  const rocksdb::Status status =
      database_->db().Delete(Synced(true), database_->meta(), kResyncThroughKey);
  if (!status.ok()) return Described(status);
  const std::lock_guard ends_lock(ends_mutex_);
  ends_.resync_through.reset();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<JournalStore>> OpenLocalLeaseStore(
    const LocalStoreOptions& options) {
  if (!options.create_if_missing && !DatabaseExists(options.directory)) {
    return absl::NotFoundError(absl::StrCat("no leases of ringdhcp are in ", options.directory,
                                            ": see storage.directory"));
  }
  absl::StatusOr<std::unique_ptr<DataDirectory>> directory =
      DataDirectory::Acquire(options.directory);
  if (!directory.ok()) return directory.status();
  auto store = std::make_unique<LocalLeaseStore>(options, *std::move(directory));
  if (absl::Status opened = store->Open(); !opened.ok()) return opened;
  return std::unique_ptr<JournalStore>(std::move(store));
}

}  // namespace ringdhcp
