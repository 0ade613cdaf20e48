#include "server/lease/expiry_wheel.h"

#include <algorithm>
#include <bit>

#include "server/base/check.h"

namespace ringdhcp {

void ExpiryWheel::Start(std::uint32_t index, std::int64_t now_ns) {
  Lease& lease = table_[index];
  RINGDHCP_CHECK(lease.timer_slot == 0);
  if (lease.deadline_ns == kNeverNs) return;
  // An empty wheel may leap: at start the clock is far from zero.
  if (size_ == 0) {
    tick_ = std::max(tick_,
                     static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns, 0)) >> kTickShift);
  }
  ++size_;
  Link(index);
}

// The level is that of the highest digit in which the deadline differs from the present.
void ExpiryWheel::Link(std::uint32_t index) {
  Lease& lease = table_[index];
  const auto deadline = static_cast<std::uint64_t>(std::max<std::int64_t>(DueAt(lease), 0));
  // Rounded up: never early.
  const std::uint64_t ceiling = (deadline + (std::uint64_t{1} << kTickShift) - 1) >> kTickShift;
  const std::uint64_t tick = std::max(ceiling, tick_);
  const unsigned top_bit = static_cast<unsigned>(std::bit_width((tick ^ tick_) | (kSlots - 1))) - 1;
  const unsigned level = top_bit / kLevelBits;
  RINGDHCP_CHECK(level < kLevels);
  const unsigned slot = Digit(tick, level);
  const unsigned position = level * kSlots + slot;
  slots_[position].PushBack(table_, index);
  occupied_[level] |= std::uint64_t{1} << slot;
  lease.timer_slot = static_cast<std::uint16_t>(position + 1);
}

void ExpiryWheel::Stop(std::uint32_t index) {
  Lease& lease = table_[index];
  if (lease.timer_slot == 0) return;
  const unsigned position = lease.timer_slot - 1U;
  slots_[position].Remove(table_, index);
  if (slots_[position].empty()) {
    occupied_[position / kSlots] &= ~(std::uint64_t{1} << (position % kSlots));
  }
  lease.timer_slot = 0;
  --size_;
}

ExpiryWheel::Position ExpiryWheel::NextOccupied() const {
  // A slot above the lowest level that contains the present was left half moved down: it is first.
  for (unsigned level = kLevels - 1; level > 0; --level) {
    const unsigned digit = Digit(tick_, level);
    if (occupied_[level] >> digit & 1) return {level, digit, tick_, true};
  }
  // Of the rest, all of a lower level is earlier than all of a higher one.
  for (unsigned level = 0; level < kLevels; ++level) {
    const unsigned digit = Digit(tick_, level);
    const std::uint64_t ahead = occupied_[level] >> digit << digit;
    if (ahead == 0) continue;
    const auto slot = static_cast<unsigned>(std::countr_zero(ahead));
    const unsigned above = (level + 1) * kLevelBits;
    const std::uint64_t first =
        (tick_ >> above << above) | (std::uint64_t{slot} << (level * kLevelBits));
    return {level, slot, first, true};
  }
  return {};
}

std::uint32_t ExpiryWheel::TakeDue(std::int64_t now_ns, std::size_t& moves) {
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns, 0)) >> kTickShift;
  while (true) {
    const Position next = NextOccupied();
    if (!next.found || next.first_tick > now) {
      tick_ = std::max(tick_, now);
      return kNoLease;
    }
    if (next.level > 0 && moves == 0) return kNoLease;
    tick_ = std::max(tick_, next.first_tick);
    const std::uint32_t index = slots_[next.level * kSlots + next.slot].head;
    Stop(index);
    if (next.level == 0) return index;
    --moves;
    ++size_;
    Link(index);
  }
}

}  // namespace ringdhcp
