#ifndef RINGDHCP_STORAGE_LOCAL_DATA_DIRECTORY_H_
#define RINGDHCP_STORAGE_LOCAL_DATA_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace ringdhcp {

/// A data directory that is ours: no other ringdhcp uses it while this object lives. The lock ends
/// with the process, however it ends.
class DataDirectory {
 public:
  /// Makes `path` (mode 0750) and its parents if missing, and locks it. The modes of what exists
  /// are left as they are. Errors name the directory, the cause and what to do.
  static absl::StatusOr<std::unique_ptr<DataDirectory>> Acquire(const std::string& path);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  DataDirectory(std::string path, int lock_fd);

  const std::string path_;
  const int lock_fd_;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_LOCAL_DATA_DIRECTORY_H_
