#ifndef RINGDHCP_STORAGE_POSTGRES_ROW_TEXT_H_
#define RINGDHCP_STORAGE_POSTGRES_ROW_TEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/lease/lease.h"

namespace ringdhcp {

/// The columns of a batch of leases as PostgreSQL array literals, one for each parameter of
/// kUpsertBatch from $5 on. Keeps its buffers between batches.
class LeaseArrays {
 public:
  static constexpr std::size_t kColumns = 13;
  void Clear();
  void Add(const LeaseRecord& record);
  /// Ends the arrays; valid until Clear.
  const std::array<std::string, kColumns>& Finish();

 private:
  std::array<std::string, kColumns> columns_;
};

/// `octets` in PostgreSQL's escape format of bytea: printable ASCII as it is, other octets as
/// \ooo, a backslash doubled.
std::string EscapeOctets(std::span<const std::uint8_t> octets);

/// What kSelectLeases gives for a lease: one line of COPY text.
std::optional<LeaseRecord> ParseLeaseLine(std::string_view line);

/// The select list for ParseLeaseLine over ringdhcp.leases. No column needs escaping in COPY text.
inline constexpr char kSelectLeases[] =
    "SELECT address - '0.0.0.0'::inet, subnet_id, state, version, "
    "extract(epoch FROM starts)::bigint, "
    "CASE WHEN isfinite(expires) THEN extract(epoch FROM expires)::bigint ELSE -1 END, "
    "isfinite(expires), hardware_type, replace(hardware_address, ':', ''), "
    "encode(coalesce(client_id, ''), 'hex'), "
    "encode(decode(coalesce(hostname, ''), 'escape'), 'hex'), "
    "encode(coalesce(relay_information, ''), 'hex') FROM ringdhcp.leases";

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_ROW_TEXT_H_
