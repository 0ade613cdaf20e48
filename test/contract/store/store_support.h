#ifndef RINGDHCP_TEST_CONTRACT_STORE_STORE_SUPPORT_H_
#define RINGDHCP_TEST_CONTRACT_STORE_STORE_SUPPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/base/prng.h"
#include "server/lease/lease.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// A directory of its own, removed with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Child(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

/// A small bound lease.
LeaseRecord SmallRow(std::uint32_t address, std::uint64_t version);
/// Any lease a store can be given, of any sizes and octets.
LeaseRecord RandomRow(Prng& prng, std::uint32_t address, std::uint64_t version);
/// Makes `text`, up to 255 octets, the host name of `row`.
void SetHostName(LeaseRecord& row, std::string_view text);
/// Every field equal, unused octets included.
bool SameRow(const LeaseRecord& a, const LeaseRecord& b);

using RowMap = std::map<std::uint32_t, LeaseRecord>;

/// All rows of `store`. An address that comes twice is a test failure, as is an error unless
/// `status` takes it.
RowMap Load(LeaseStore& store, absl::Status* status = nullptr);
/// A test failure unless durable.
void CommitDurably(LeaseStore& store, const std::vector<LeaseRecord>& rows);
/// The store in `directory`, or a test failure and null.
std::unique_ptr<LeaseStore> OpenStore(const std::string& directory, bool synced = true,
                                      bool outbox = false);
/// Opens the store in `directory` anew and loads it.
RowMap Reload(const std::string& directory);
/// A test failure for each difference.
void ExpectSameRows(const RowMap& actual, const RowMap& expected);

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_CONTRACT_STORE_STORE_SUPPORT_H_
