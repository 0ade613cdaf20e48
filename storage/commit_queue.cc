#include "storage/commit_queue.h"

#include <utility>

#include "server/base/canary.h"
#include "server/base/check.h"
#include "server/base/probe.h"

namespace ringdhcp {

namespace {
constexpr std::size_t kRowsMax = 65536;
}  // namespace

CommitQueue::CommitQueue(std::size_t rows_max) : rows_max_(rows_max) {
  RINGDHCP_CHECK(rows_max >= 1 && rows_max <= kRowsMax);
  gathering_.rows.reserve(rows_max);
  sealed_.rows.reserve(rows_max);
  // Twice the rows, so that the marks left by erased keys never make the table grow.
  position_.reserve(2 * rows_max);
}

CommitSeq CommitQueue::Append(const LeaseRecord& record) {
  RINGDHCP_CHECK(Free() >= 1);
  durable_rows_ = {};
  const auto index = static_cast<std::uint32_t>(gathering_.rows.size());
  const auto [position, is_new] = position_.try_emplace(record.address.value, index);
  if (is_new) {
    gathering_.rows.push_back(record);
  } else {
    RINGDHCP_PROBE(row_replaced_while_gathering);
    gathering_.rows[position->second] = record;
  }
  ++last_.value;
  gathering_.last = last_;
  return last_;
}

const LeaseBatch* CommitQueue::Seal() {
  durable_rows_ = {};
  if (in_flight_) return nullptr;
  if (sealed_.rows.empty()) {
    if (gathering_.rows.empty()) return nullptr;
    // Key by key: clear() gives the memory of a large table back, and the next batch would have to
    // allocate it anew.
    for (const LeaseRecord& row : gathering_.rows) position_.erase(row.address.value);
    std::swap(gathering_, sealed_);
    gathering_.rows.clear();
    gathering_.attempts = 0;
  }
  if (sealed_.attempts > 0) RINGDHCP_PROBE(batch_sent_again);
  in_flight_ = true;
  ++sealed_.attempts;
  return &sealed_;
}

void CommitQueue::OnResult(BatchOutcome outcome) {
  RINGDHCP_CHECK(in_flight_);
  in_flight_ = false;
  if (outcome != BatchOutcome::kDurable && RINGDHCP_CANARY(failed_row_dropped) &&
      sealed_.rows.size() > 1) {
    sealed_.rows.pop_back();
  }
  if (outcome != BatchOutcome::kDurable && !RINGDHCP_CANARY(failed_counts_as_durable)) return;
  durable_ = sealed_.last;
  // clear() keeps the buffer, and a trivially destructible row stays readable in it until the
  // buffer gathers again, which is after the next Seal.
  durable_rows_ = std::span<const LeaseRecord>(sealed_.rows.data(), sealed_.rows.size());
  sealed_.rows.clear();
}

}  // namespace ringdhcp
