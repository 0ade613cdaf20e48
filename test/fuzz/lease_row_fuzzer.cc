// Stored rows, as a damaged disk or another program may have left them. The first octet is the
// length of the key, then the key and the value. What decodes is written and read again unchanged,
// and of two rows for one address the one with the larger version stays.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/check.h"
#include "storage/local/lease_row.h"

namespace ringdhcp {
namespace {

// Not memcmp: the rest of the arrays and the padding mean nothing.
bool SameRecord(const LeaseRecord& a, const LeaseRecord& b) {
  return a.address == b.address && a.subnet == b.subnet && a.state == b.state &&
         a.version == b.version && a.starts_wall_s == b.starts_wall_s &&
         a.expires_wall_s == b.expires_wall_s && a.htype == b.htype &&
         std::ranges::equal(a.HardwareAddress(), b.HardwareAddress()) &&
         std::ranges::equal(a.ClientId(), b.ClientId()) &&
         std::ranges::equal(a.HostName(), b.HostName()) &&
         std::ranges::equal(a.RelayInformation(), b.RelayInformation());
}

std::string Merge(const rocksdb::Slice& existing, const rocksdb::Slice& operand) {
  static const auto merge = MakeLargerVersionWins();
  const std::vector<rocksdb::Slice> operands = {operand};
  const rocksdb::MergeOperator::MergeOperationInput in("key", &existing, operands, nullptr);
  std::string value;
  rocksdb::Slice chosen(nullptr, 0);
  rocksdb::MergeOperator::MergeOperationOutput out(value, chosen);
  RINGDHCP_CHECK(merge->FullMergeV2(in, &out));
  return chosen.ToString();
}

void Run(std::string_view key, std::string_view value) {
  static LeaseRowCodec codec;
  const auto record = codec.Decode(key, value);
  if (!record) return;
  RINGDHCP_CHECK(record->hlen <= kChaddrSize);
  const std::string written(codec.Encode(*record));
  const auto again = codec.Decode(key, written);
  RINGDHCP_CHECK(again && SameRecord(*record, *again));

  LeaseRecord newer = *record;
  newer.version += 1;
  if (newer.version == 0) return;
  const std::string newer_written(codec.Encode(newer));
  const rocksdb::Slice a(written), b(newer_written);
  RINGDHCP_CHECK(Merge(a, b) == newer_written && Merge(b, a) == newer_written);
  // A damaged row never replaces a good one.
  const std::string damaged = "\xFF" + newer_written;
  RINGDHCP_CHECK(Merge(rocksdb::Slice(damaged), b) == newer_written);
  if (newer.version > 1) RINGDHCP_CHECK(Merge(b, rocksdb::Slice(damaged)) == newer_written);
}

}  // namespace
}  // namespace ringdhcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view key = rest.substr(0, data[0]);
  ringdhcp::Run(key, rest.substr(key.size()));
  return 0;
}
