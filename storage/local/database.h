#ifndef RINGDHCP_STORAGE_LOCAL_DATABASE_H_
#define RINGDHCP_STORAGE_LOCAL_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/db.h"

namespace ringdhcp {

/// The version of what is stored; raised when an older program could not read it.
inline constexpr std::uint64_t kStoreFormat = 1;

/// An open RocksDB with ringdhcp's column families. RocksDB takes calls from any thread; opening
/// and destruction are of one.
class Database {
 public:
  /// Opens or makes the database in `directory`, which the caller has locked. A database of a newer
  /// format is refused before anything in it changes.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& directory);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* leases() { return leases_; }
  rocksdb::ColumnFamilyHandle* outbox() { return outbox_; }
  rocksdb::ColumnFamilyHandle* meta() { return meta_; }
  /// The random id that this database got when it was made.
  rocksdb::Status ReadUuid(std::string* uuid);

 private:
  Database() = default;
  absl::Status WriteMeta(const std::string& directory);

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  rocksdb::ColumnFamilyHandle* leases_ = nullptr;
  rocksdb::ColumnFamilyHandle* outbox_ = nullptr;
  rocksdb::ColumnFamilyHandle* meta_ = nullptr;
};

/// Whether there is a database in `directory`, whatever its state. Reads only.
bool DatabaseExists(const std::string& directory);

/// `status`, which is not OK, as cause and remedy in words for the operator.
absl::Status DescribeError(const rocksdb::Status& status, const std::string& directory);

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_LOCAL_DATABASE_H_
