#include "storage/postgres/bootstrap.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kChunkRows = 8192;

std::string_view AsText(std::span<const std::uint8_t> octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

std::size_t ContentHash(const LeaseRecord& row) {
  const auto text = [](std::span<const std::uint8_t> octets) {
    return std::string(AsText(octets));
  };
  return absl::HashOf(row.subnet.value, static_cast<int>(row.state), row.starts_wall_s,
                      row.expires_wall_s, row.htype, text(row.HardwareAddress()),
                      text(row.ClientId()), text(row.HostName()), text(row.RelayInformation()));
}

class Comparison {
 public:
  explicit Comparison(JournalStore& store) : store_(store) {}

  absl::StatusOr<BootstrapResult> Run(PostgresSession& session) {
    result_.compared = true;
    absl::Status status = store_.LoadAll([this](const LeaseRecord& row) {
      local_.emplace(row.address.value, Known{row.version, ContentHash(row)});
    });
    if (!status.ok()) return status;
    const std::size_t locals = local_.size();
    std::uint64_t same = 0;
    status = session.LoadLeases([&](const LeaseRecord& row) {
      ++result_.in_postgres;
      Compare(row, same);
      if (taken_.size() >= kChunkRows) Flush(false);
    });
    if (!status.ok()) return status;
    Flush(true);
    if (!imported_.ok()) return imported_;
    result_.kept += locals - same - superseded_;
    return result_;
  }

 private:
  struct Known {
    std::uint64_t version;
    std::size_t hash;
  };

  void Compare(const LeaseRecord& row, std::uint64_t& same) {
    const auto found = local_.find(row.address.value);
    if (found == local_.end()) return Take(row);
    if (found->second.version > row.version) return;
    if (found->second.version < row.version) {
      ++superseded_;
      return Take(row);
    }
    if (found->second.hash == ContentHash(row)) {
      ++same;
      return;
    }
    if (result_.conflicts++ == 0) result_.first_conflict = row.address.ToString();
    Settle(row);
  }

  void Settle(const LeaseRecord& row) {
    std::vector<LeaseRecord> local;
    const std::uint32_t address = row.address.value;
    const std::optional<std::uint32_t> after =
        address == 0 ? std::nullopt : std::optional(address - 1);
    if (absl::Status read = store_.ReadLeases(after, 1, local); !read.ok()) {
      imported_ = read;
      return;
    }
    if (local.empty() || local[0].address != row.address ||
        local[0].starts_wall_s <= row.starts_wall_s) {
      ++superseded_;
      return Take(row);
    }
    // A version of its own, or the row in PostgreSQL would stay.
    ++local[0].version;
    taken_.push_back(local[0]);
  }

  void Take(const LeaseRecord& row) {
    ++result_.loaded;
    taken_.push_back(row);
  }

  void Flush(bool last) {
    if (imported_.ok() && (last || !taken_.empty())) imported_ = store_.Import(taken_, last);
    taken_.clear();
  }

  JournalStore& store_;
  absl::flat_hash_map<std::uint32_t, Known> local_;
  std::vector<LeaseRecord> taken_;
  std::uint64_t superseded_ = 0;
  absl::Status imported_;
  BootstrapResult result_;
};

}  // namespace

absl::StatusOr<BootstrapResult> Bootstrap(JournalStore& store, PostgresSession& session,
                                          const ServerRecord& record) {
  const OutboxEnds ends = store.Ends();
  if (record.store == store.Uuid() && record.position <= ends.last) {
    // Less far than what was trimmed: PostgreSQL lost what it had confirmed.
    if (record.position < ends.trimmed && !ends.resync_through.has_value()) {
      if (absl::Status marked = store.BeginResync(); !marked.ok()) return marked;
    }
    return BootstrapResult();
  }
  absl::StatusOr<BootstrapResult> result = Comparison(store).Run(session);
  if (!result.ok()) return result;
  if (absl::Status raised = store.RaiseLast(record.position); !raised.ok()) return raised;
  // To a database that is new to this server, an outbox that was never trimmed tells everything.
  const bool told = record.store.empty() && result->in_postgres == 0 && ends.trimmed == 0;
  if (result->kept > 0 && !told) {
    if (absl::Status marked = store.BeginResync(); !marked.ok()) return marked;
  } else if (record.position < store.Ends().trimmed) {
    // Nothing is missing there but the position itself; a resync sets it.
    if (absl::Status marked = store.BeginResync(); !marked.ok()) return marked;
  }
  if (absl::Status adopted = session.AdoptStore(store.Uuid()); !adopted.ok()) return adopted;
  return result;
}

absl::StatusOr<bool> HasLeases(Outbox& store) {
  std::vector<LeaseRecord> rows;
  if (absl::Status read = store.ReadLeases(std::nullopt, 1, rows); !read.ok()) return read;
  return !rows.empty();
}

}  // namespace ringdhcp
