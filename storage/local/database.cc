#include "storage/local/database.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <filesystem>
#include <memory>
#include <random>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"
#include "storage/local/lease_row.h"

namespace ringdhcp {

namespace {

constexpr char kLeasesName[] = "leases";
constexpr char kOutboxName[] = "outbox";
constexpr char kMetaName[] = "meta";
constexpr char kFormatKey[] = "format";
constexpr char kServerUuidKey[] = "server_uuid";

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kMemtablesMax = 64 * kMebibyte;
// Bounds what a start has to replay, and the disk it takes.
constexpr std::size_t kWalMax = 128 * kMebibyte;

/// Keeps RocksDB from writing a log of its own beside the data: where that can't be written, on a
/// full disk, RocksDB 7.8 built with assertions ends the process. Errors reach us as statuses.
class SilentLogger final : public rocksdb::Logger {
 public:
  SilentLogger() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

rocksdb::DBOptions MakeDatabaseOptions() {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  // Replays up to the first record that is not whole. A synced commit lies before any record that
  // a crash can have torn; a torn record was never reported durable, and never fails a start.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.db_write_buffer_size = kMemtablesMax;
  options.max_total_wal_size = kWalMax;
  options.max_manifest_file_size = 4 * kMebibyte;
  options.max_open_files = 256;
  options.info_log = std::make_shared<SilentLogger>();
  options.info_log_level = rocksdb::InfoLogLevel::FATAL_LEVEL;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::ColumnFamilyOptions MakeFamilyOptions() {
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = kMemtablesMax;
  return options;
}

/// OK when the database in `directory` is absent, without format, or of a format known here. Reads
/// only.
absl::Status CheckFormat(const std::string& directory) {
  if (!DatabaseExists(directory)) return absl::OkStatus();
  rocksdb::DBOptions options = MakeDatabaseOptions();
  options.create_if_missing = false;
  options.create_missing_column_families = false;
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, directory, &names);
  if (!status.ok()) return DescribeError(status, directory);
  // A crash in the middle of making the database leaves it without; nothing was committed then.
  if (std::find(names.begin(), names.end(), kMetaName) == names.end()) return absl::OkStatus();

  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, MakeFamilyOptions()}, {kMetaName, MakeFamilyOptions()}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, directory, families, &handles, &opened);
  if (!status.ok()) return DescribeError(status, directory);
  const std::unique_ptr<rocksdb::DB> db(opened);
  std::string text;
  status = db->Get(rocksdb::ReadOptions(), handles[1], kFormatKey, &text);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  if (status.IsNotFound()) return absl::OkStatus();
  if (!status.ok()) return DescribeError(status, directory);

  std::uint64_t format = 0;
  if (!absl::SimpleAtoi(text, &format)) {
    return absl::DataLossError(absl::StrCat("the format version of the store in ", directory,
                                            " is unreadable: restore it from a backup, or move it "
                                            "away to start without leases"));
  }
  if (format <= kStoreFormat) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the store in ", directory, " has format ", format, ", this ringdhcp knows format ",
      kStoreFormat, ": run the newer ringdhcp that wrote it, or choose another directory"));
}

/// A random (version 4) UUID, RFC 4122 section 4.4.
std::string MakeUuid() {
  std::random_device random;
  std::array<std::uint8_t, 16> octets{};
  for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random() & 0xFF);
  octets[6] = static_cast<std::uint8_t>((octets[6] & 0x0F) | 0x40);
  octets[8] = static_cast<std::uint8_t>((octets[8] & 0x3F) | 0x80);
  std::string uuid;
  for (std::size_t i = 0; i < octets.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    absl::StrAppend(&uuid, absl::Hex(octets[i], absl::kZeroPad2));
  }
  return uuid;
}

}  // namespace

bool DatabaseExists(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory + "/CURRENT", ignored);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& directory) {
  if (absl::Status checked = CheckFormat(directory); !checked.ok()) return checked;
  rocksdb::ColumnFamilyOptions leases_options = MakeFamilyOptions();
  leases_options.merge_operator = MakeLargerVersionWins();
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, MakeFamilyOptions()},
      {kLeasesName, leases_options},
      {kOutboxName, MakeFamilyOptions()},
      {kMetaName, MakeFamilyOptions()}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(MakeDatabaseOptions(), directory, families, &handles, &opened);
  if (!status.ok()) return DescribeError(status, directory);

  std::unique_ptr<Database> database(new Database());
  database->db_.reset(opened);
  database->default_ = handles[0];
  database->leases_ = handles[1];
  database->outbox_ = handles[2];
  database->meta_ = handles[3];
  if (absl::Status written = database->WriteMeta(directory); !written.ok()) return written;
  return database;
}

absl::Status Database::WriteMeta(const std::string& directory) {
  std::string format;
  rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), meta_, kFormatKey, &format);
  if (status.ok()) return absl::OkStatus();
  if (status.IsNotFound()) {
    rocksdb::WriteBatch batch;
    rocksdb::WriteOptions synced;
    synced.sync = true;
    status = batch.Put(meta_, kFormatKey, absl::StrCat(kStoreFormat));
    if (status.ok()) status = batch.Put(meta_, kServerUuidKey, MakeUuid());
    if (status.ok()) status = db_->Write(synced, &batch);
  }
  return status.ok() ? absl::OkStatus() : DescribeError(status, directory);
}

rocksdb::Status Database::ReadUuid(std::string* uuid) {
  return db_->Get(rocksdb::ReadOptions(), meta_, kServerUuidKey, uuid);
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* handle : {default_, leases_, outbox_, meta_}) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

absl::Status DescribeError(const rocksdb::Status& status, const std::string& directory) {
  if (status.IsNoSpace()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no space left on device: free space in ", directory));
  }
  const std::string cause = absl::StrCat("the store in ", directory, ": ", status.ToString(), ": ");
  if (status.IsCorruption()) {
    return absl::DataLossError(
        absl::StrCat(cause, "restore it from a backup, or move it away to start without leases"));
  }
  if (status.IsIOError()) {
    return absl::UnavailableError(absl::StrCat(cause,
                                               "check the disk, its mount options and quota, "
                                               "and that ringdhcp may write there"));
  }
  return absl::InternalError(
      absl::StrCat(cause, "if it persists, move the directory away to start without leases"));
}

}  // namespace ringdhcp
