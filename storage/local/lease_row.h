#ifndef RINGDHCP_STORAGE_LOCAL_LEASE_ROW_H_
#define RINGDHCP_STORAGE_LOCAL_LEASE_ROW_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proto/lease.pb.h"
#include "rocksdb/merge_operator.h"
#include "server/lease/lease.h"

namespace ringdhcp {

/// The octets of `value`, most significant octet first, so that keys sort as numbers do.
template <typename Unsigned>
std::array<char, sizeof(Unsigned)> BigEndianKey(Unsigned value) {
  std::array<char, sizeof(Unsigned)> key{};
  for (std::size_t i = key.size(); i-- > 0; value >>= 8) key[i] = static_cast<char>(value & 0xFF);
  return key;
}

/// Reads what BigEndianKey wrote; nullopt when the length is not that of `Unsigned`.
template <typename Unsigned>
std::optional<Unsigned> ParseBigEndianKey(std::string_view key) {
  if (key.size() != sizeof(Unsigned)) return std::nullopt;
  Unsigned value = 0;
  for (const char c : key) value = (value << 8) | static_cast<std::uint8_t>(c);
  return value;
}

/// Turns records into stored rows and back; keeps its buffers between calls. One thread per object.
class LeaseRowCodec {
 public:
  /// Valid until the next call.
  std::string_view Encode(const LeaseRecord& record);
  /// The record of a row of the column family leases; nullopt when the row is damaged: it does not
  /// parse, a field is out of range, or it belongs to another key.
  std::optional<LeaseRecord> Decode(std::string_view key, std::string_view value);
  /// The record of a row of the column family outbox; nullopt when it is damaged.
  std::optional<LeaseRecord> DecodeOutbox(std::string_view value);

 private:
  bool Parse(std::string_view value);
  std::optional<LeaseRecord> ToRecord() const;

  storage::LeaseRow row_;
  std::string buffer_;
};

/// Of several rows written for one address the one with the largest version stays, of equals the
/// last written. As a merge operator it costs a commit no read: RocksDB applies it when it reads,
/// flushes or compacts.
std::shared_ptr<rocksdb::MergeOperator> MakeLargerVersionWins();

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_LOCAL_LEASE_ROW_H_
