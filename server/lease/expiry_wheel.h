#ifndef RINGDHCP_SERVER_LEASE_EXPIRY_WHEEL_H_
#define RINGDHCP_SERVER_LEASE_EXPIRY_WHEEL_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "server/base/canary.h"
#include "server/lease/lease_table.h"

namespace ringdhcp {

/// The timers of all leases: a hierarchical timing wheel of 7 levels of 64 slots, 2^24 ns (16.8 ms)
/// fine, that spans every time there is. Start and stop take constant time; a timer is moved down
/// at most six times in its life; empty slots are skipped by bit maps, so a leap of days costs
/// nothing. Lists run through the leases. One thread.
class ExpiryWheel {
 public:
  /// `table` must outlive the wheel. Bound leases are due `bound_extra_ns` (0 or more) after their
  /// deadline.
  explicit ExpiryWheel(LeaseTable& table, std::int64_t bound_extra_ns = 0)
      : table_(table), bound_extra_ns_(bound_extra_ns) {}

  /// When the lease is due; kNeverNs: never.
  std::int64_t DueAt(const Lease& lease) const {
    if (lease.state != LeaseState::kBound || lease.deadline_ns == kNeverNs) {
      return lease.deadline_ns;
    }
    if (RINGDHCP_CANARY(late_ack_forgotten)) return lease.deadline_ns;
    return lease.deadline_ns + bound_extra_ns_;
  }

  /// Starts the timer of a lease that has none, for DueAt; nothing for kNeverNs. Its state and
  /// deadline stay as they are until it is stopped or taken out.
  void Start(std::uint32_t index, std::int64_t now_ns);
  /// Stops it; nothing if it has none.
  void Stop(std::uint32_t index);
  /// Takes out one lease that is due at or before now_ns; never one that is later. kNoLease:
  /// none is due, or `moves`, the number of timers that may be moved down (each takes one off),
  /// fell to zero first.
  std::uint32_t TakeDue(std::int64_t now_ns, std::size_t& moves);
  std::size_t size() const { return size_; }

 private:
  static constexpr unsigned kTickShift = 24;
  static constexpr unsigned kLevelBits = 6;
  static constexpr unsigned kLevels = 7;
  static constexpr unsigned kSlots = 1U << kLevelBits;

  struct Position {
    unsigned level = 0;
    unsigned slot = 0;
    std::uint64_t first_tick = 0;
    bool found = false;
  };
  unsigned Digit(std::uint64_t tick, unsigned level) const {
    return static_cast<unsigned>(tick >> (level * kLevelBits)) & (kSlots - 1);
  }
  void Link(std::uint32_t index);
  Position NextOccupied() const;

  LeaseTable& table_;
  const std::int64_t bound_extra_ns_;
  std::array<LeaseList, kLevels * kSlots> slots_{};
  std::array<std::uint64_t, kLevels> occupied_{};
  std::uint64_t tick_ = 0;  // everything before it was taken out
  std::size_t size_ = 0;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_EXPIRY_WHEEL_H_
