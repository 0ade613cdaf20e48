#include "storage/memory/memory_lease_store.h"

#include <new>

#include "absl/container/flat_hash_map.h"

namespace ringdhcp {

namespace {

class MemoryLeaseStore final : public LeaseStore {
 public:
  absl::Status LoadAll(const std::function<void(const LeaseRecord&)>& row) override {
    for (const auto& [address, record] : rows_) row(record);
    return absl::OkStatus();
  }

  BatchResult Commit(std::span<const LeaseRecord> rows) override {
    // All memory first, so that a batch is stored whole or not at all.
    try {
      rows_.reserve(rows_.size() + rows.size());
    } catch (const std::bad_alloc&) {
      return {BatchOutcome::kFailed,
              absl::ResourceExhaustedError("no memory for more leases: add memory, or use the "
                                           "local store")};
    }
    for (const LeaseRecord& row : rows) {
      const auto [stored, is_new] = rows_.try_emplace(row.address.value, row);
      if (!is_new && row.version >= stored->second.version) stored->second = row;
    }
    return {BatchOutcome::kDurable, absl::OkStatus()};
  }

  std::string_view name() const override { return "memory"; }

 private:
  absl::flat_hash_map<std::uint32_t, LeaseRecord> rows_;
};

}  // namespace

std::unique_ptr<LeaseStore> MakeMemoryLeaseStore() { return std::make_unique<MemoryLeaseStore>(); }

}  // namespace ringdhcp
