#ifndef RINGDHCP_SERVER_BASE_IDS_H_
#define RINGDHCP_SERVER_BASE_IDS_H_

#include <compare>
#include <cstdint>

namespace ringdhcp {

/// An integer that does not mix with other integers. `Tag` makes the type distinct.
template <typename Tag, typename Rep>
struct StrongId {
  Rep value{};
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) : value(v) {}
  constexpr auto operator<=>(const StrongId&) const = default;
};

/// Position of a served interface in the shard's table, 0 to interfaces_max-1; not the kernel's
/// ifindex, which changes when an interface is made anew. A slot keeps its name for its life.
using InterfaceSlot = StrongId<struct InterfaceSlotTag, std::uint16_t>;
/// Buffer of one interface's receive buffer ring, 0 to buffers-1.
using BufferId = StrongId<struct BufferIdTag, std::uint16_t>;
/// Slot of a reply on its way out, 0 to send_slots-1.
using SendSlotId = StrongId<struct SendSlotIdTag, std::uint32_t>;
/// The operator's id of a subnet, from the configuration; 0 means none.
using SubnetId = StrongId<struct SubnetIdTag, std::uint32_t>;
/// Number of a mutation in the order it was queued, from 1; 0 means "nothing to wait for". A
/// reply gated by n may leave once durable_seq >= n.
using CommitSeq = StrongId<struct CommitSeqTag, std::uint64_t>;

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_BASE_IDS_H_
