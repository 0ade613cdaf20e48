#include "storage/local/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ringdhcp {

namespace {

constexpr mode_t kDirectoryMode = 0750;
constexpr mode_t kLockFileMode = 0640;
constexpr std::string_view kLockFileName = "LOCK.ringdhcp";

absl::Status DirectoryError(int error, const std::string& path, std::string_view action) {
  const std::string cause =
      absl::StrCat("cannot ", std::string(action), " ", path, ": ", std::strerror(error), ": ");
  switch (error) {
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(
          absl::StrCat(cause, "give the user that runs ringdhcp the right to write there"));
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(absl::StrCat(cause, "free space there"));
    case EROFS:
      return absl::FailedPreconditionError(
          absl::StrCat(cause, "mount it writable or choose another storage directory"));
    case ENOTDIR:
    case EEXIST:
      return absl::FailedPreconditionError(
          absl::StrCat(cause, "a file stands in the way; choose another storage directory"));
    default:
      return absl::FailedPreconditionError(absl::StrCat(cause, "choose another storage directory"));
  }
}

absl::Status MakeDirectory(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return absl::OkStatus();
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) {
    std::filesystem::create_directories(parent, error);
    if (error) return DirectoryError(error.value(), parent.string(), "create the directory");
  }
  if (mkdir(path.c_str(), kDirectoryMode) == 0) return absl::OkStatus();
  const int made = errno;
  // Somebody else may have made it meanwhile.
  if (made == EEXIST && std::filesystem::is_directory(path, error)) return absl::OkStatus();
  return DirectoryError(made, path, "create the directory");
}

/// " (process 123)", or nothing while the owner has not written its number.
std::string OwnerOf(int lock_fd) {
  std::array<char, 16> text{};
  const ssize_t length = pread(lock_fd, text.data(), text.size(), 0);
  std::string_view digits(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  return digits.empty() ? "" : absl::StrCat(" (process ", std::string(digits), ")");
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::Acquire(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the storage directory has no name");
  // Without the slash at its end: its parent is then the directory that holds it.
  std::string directory = path;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  if (absl::Status made = MakeDirectory(directory); !made.ok()) return made;

  const std::string lock_path = absl::StrCat(directory, "/", std::string(kLockFileName));
  const int fd = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kLockFileMode);
  if (fd < 0) return DirectoryError(errno, lock_path, "open");
  std::unique_ptr<DataDirectory> owned(new DataDirectory(directory, fd));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return DirectoryError(errno, lock_path, "lock");
    return absl::FailedPreconditionError(
        absl::StrCat("another ringdhcp", OwnerOf(fd), " uses the directory ", directory,
                     ": stop it or choose another storage directory"));
  }
  // The number is a courtesy to the reader of the message above: a full disk must not matter here.
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) errno = 0;
  return owned;
}

DataDirectory::DataDirectory(std::string path, int lock_fd)
    : path_(std::move(path)), lock_fd_(lock_fd) {}

DataDirectory::~DataDirectory() { close(lock_fd_); }

}  // namespace ringdhcp
