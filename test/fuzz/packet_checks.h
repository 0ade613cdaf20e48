#ifndef RINGDHCP_TEST_FUZZ_PACKET_CHECKS_H_
#define RINGDHCP_TEST_FUZZ_PACKET_CHECKS_H_

#include <cstdint>
#include <span>

#include "server/base/prng.h"
#include "server/dhcp4/message.h"

namespace ringdhcp {

/// What must hold for the UDP payload of any client message. Each aborts when it does not.

/// Decode and PeekMessageType read nothing behind the payload and agree with the reference decoder,
/// which is written a second time in the plainest way. True when the payload decodes.
bool CheckDecode(std::span<const std::uint8_t> payload, Message& message);

/// A reply with the options of `message` (all but 52; `prng` chooses which are required, and the
/// space) decodes to the same values; only optional ones may be missing, as many as Encode says;
/// option 82 is the last one and unchanged.
void CheckRoundTrip(const Message& message, Prng prng);

/// The same options laid out in another way (cut into pieces, RFC 3396; spread over options, file
/// and sname, RFC 2132 section 9.3; with pads between them) decode to the same values.
void CheckOtherLayout(std::span<const std::uint8_t> payload, const Message& message, Prng prng);

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_FUZZ_PACKET_CHECKS_H_
