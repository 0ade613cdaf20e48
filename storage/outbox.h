#ifndef RINGDHCP_STORAGE_OUTBOX_H_
#define RINGDHCP_STORAGE_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/lease/lease.h"
#include "storage/lease_store.h"

namespace ringdhcp {

/// One committed row on its way to another database.
struct OutboxRow {
  std::uint64_t position = 0;
  LeaseRecord record;
};

/// Where an outbox begins and ends. Positions rise from 1 and never come again; there may be gaps.
struct OutboxEnds {
  /// Rows up to here are gone.
  std::uint64_t trimmed = 0;
  /// The position last used; equal to `trimmed` when the outbox is empty.
  std::uint64_t last = 0;
  /// When set: changes up to this position are missing from the outbox (it had grown to its limit,
  /// or was switched off), so every lease must be sent once.
  std::optional<std::uint64_t> resync_through;

  /// Rows that wait, gaps included.
  std::uint64_t rows() const { return last - trimmed; }
};

/// The committed rows of a local store that a replicator has not yet taken elsewhere, in the order
/// of their commits. Calls are thread-safe beside LeaseStore::Commit and each other; they block on
/// the disk. Errors tell cause and remedy, as those of LeaseStore.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual OutboxEnds Ends() const = 0;
  /// Appends to `rows` at most `max` rows with positions above `after`, ascending.
  virtual absl::Status ReadFrom(std::uint64_t after, std::size_t max,
                                std::vector<OutboxRow>& rows) = 0;
  /// Forgets the rows up to `position`, which are safe elsewhere. Not synced: after a crash they
  /// may be there again.
  virtual absl::Status TrimThrough(std::uint64_t position) = 0;
  /// Appends to `rows` at most `max` stored leases, ascending by address, beginning above `after`
  /// (from the first, if absent).
  virtual absl::Status ReadLeases(std::optional<std::uint32_t> after, std::size_t max,
                                  std::vector<LeaseRecord>& rows) = 0;
  /// Notes, durably, that every lease must be sent once: sets resync_through to the last position.
  virtual absl::Status BeginResync() = 0;
  /// Every lease was sent. Does nothing if resync_through is no longer `through`.
  virtual absl::Status EndResync(std::uint64_t through) = 0;
};

/// A local store with an outbox. Commit appends to both in one atomic write.
class JournalStore : public LeaseStore, public Outbox {
 public:
  /// Random, made with the store; a store made anew has another.
  virtual std::string Uuid() const = 0;
  /// Stores rows that came from elsewhere, without the outbox; the larger version stays, of equals
  /// the row given here. Starting thread. Durable after a call with `sync`.
  virtual absl::Status Import(std::span<const LeaseRecord> rows, bool sync) = 0;
  /// Positions up to `position` were used by an earlier life of this store: never use them again.
  /// Starting thread.
  virtual absl::Status RaiseLast(std::uint64_t position) = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_OUTBOX_H_
