#ifndef RINGDHCP_TEST_UNIT_DHCP4_REFERENCE_DECODER_H_
#define RINGDHCP_TEST_UNIT_DHCP4_REFERENCE_DECODER_H_

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/dhcp4/drop_reason.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {

/// What the decoder must make of a payload, written a second time in the plainest way: an oracle
/// for payloads that no table foresees.
struct ReferenceMessage {
  std::optional<DropReason> drop;
  /// By code; meaningful when `drop` is empty.
  std::array<std::optional<Octets>, 256> options;
};

ReferenceMessage ReferenceDecode(std::span<const std::uint8_t> payload);

/// Decodes a guarded copy with the server's decoder and with the reference and returns the first
/// difference in words; empty when they agree.
std::string CompareWithReference(std::span<const std::uint8_t> guarded_payload);

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_UNIT_DHCP4_REFERENCE_DECODER_H_
