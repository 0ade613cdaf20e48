// Relay agent information (RFC 3046, 3527, 5107) as the lease code reads it: which subnet a relayed
// message belongs to, and that what the relay added comes back unchanged.
#include <algorithm>
#include <optional>
#include <vector>

#include "server/base/check.h"
#include "server/lease/lease_engine.h"
#include "server/lease/reply_builder.h"
#include "server/lease/subnet_selector.h"
#include "test/fuzz/option_mutator.h"
#include "test/fuzz/packet_checks.h"
#include "test/unit/dhcp4/reference_decoder.h"

namespace ringdhcp {
namespace {

constexpr std::uint8_t kAgent = 82;

Subnet MakeSubnet(std::uint32_t id, const char* prefix) {
  Subnet subnet;
  subnet.id = SubnetId(id);
  subnet.prefix = *Ipv4Prefix::Parse(prefix);
  subnet.pools = {{Ipv4Address(subnet.prefix.address.value + 10),
                   Ipv4Address(subnet.prefix.address.value + 19)}};
  return subnet;
}

const std::vector<Subnet>& Subnets() {
  static const std::vector<Subnet> subnets = {
      MakeSubnet(1, "192.0.2.0/24"), MakeSubnet(2, "198.51.100.0/25"),
      MakeSubnet(3, "198.51.100.128/25"), MakeSubnet(4, "203.0.113.0/24")};
  return subnets;
}

// The first sub-option of 4 octets with this code, found a second time by index.
std::optional<std::uint32_t> ReferenceSubOption(std::span<const std::uint8_t> agent, int code) {
  for (std::size_t at = 0; at + 2 <= agent.size() && at + 2 + agent[at + 1] <= agent.size();
       at += std::size_t{2} + agent[at + 1]) {
    if (agent[at] != code || agent[at + 1] != 4) continue;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number * 256 + agent[at + 2 + i];
    return number;
  }
  return std::nullopt;
}

void CheckSubOptions(const Message& message) {
  const auto agent = message.options.Find(OptionCode::kRelayAgentInformation);
  for (int code = 0; code < 256; ++code) {
    std::optional<std::uint32_t> expected;
    if (agent && !message.header.giaddr.IsZero()) expected = ReferenceSubOption(*agent, code);
    const auto found = FindRelayAddress(message, static_cast<std::uint8_t>(code));
    RINGDHCP_CHECK(found.has_value() == expected.has_value());
    RINGDHCP_CHECK(!found || found->value == *expected);
  }
}

std::uint32_t Containing(std::uint32_t address) {
  for (std::uint32_t i = 0; i < Subnets().size(); ++i) {
    if (Subnets()[i].prefix.Contains(Ipv4Address(address))) return i;
  }
  return UINT32_MAX;
}

// RFC 3527 section 3 before RFC 3011 section 3 before giaddr; one that is unknown is not passed
// over.
void CheckSelection(const Message& message, const SubnetSelector& selector, const LinkView& link) {
  if (message.header.giaddr.IsZero()) return;
  std::uint32_t wanted = message.header.giaddr.value;
  const auto agent = message.options.Find(OptionCode::kRelayAgentInformation);
  const auto selection = message.options.Find(OptionCode::kSubnetSelection);
  const auto chosen = agent ? ReferenceSubOption(*agent, 5) : std::nullopt;
  if (chosen) {
    wanted = *chosen;
  } else if (selection && selection->size() == 4) {
    wanted = std::uint32_t{(*selection)[0]} << 24 | std::uint32_t{(*selection)[1]} << 16 |
             std::uint32_t{(*selection)[2]} << 8 | (*selection)[3];
  }
  RINGDHCP_CHECK(selector.Select(message, link) == Containing(wanted));
}

void CheckReply(const Message& message, const Decision& decision) {
  static ReplyBuilder builder;
  static std::array<std::uint8_t, kReplyPayloadMax> out;
  const auto agent = message.options.Find(OptionCode::kRelayAgentInformation);
  const EncodeResult result =
      Encode(builder.Build(message, decision), MaximumPayload(message.options, 1500), out);
  if (result.size == 0) return;
  out[0] = kBootRequest;  // the reference decodes what clients send
  const ReferenceMessage read = ReferenceDecode(std::span(out).first(result.size));
  RINGDHCP_CHECK(read.drop == DropReason::kServerMessage);
  const auto& echoed = read.options[kAgent];
  // RFC 3046 section 2.2: echoed as it came, or left out if there is no room.
  RINGDHCP_CHECK(!echoed || agent);
  if (agent && !echoed) RINGDHCP_CHECK(result.options_dropped > 0);
  if (echoed) {
    RINGDHCP_CHECK(std::equal(agent->begin(), agent->end(), echoed->begin(), echoed->end()));
  }
  // RFC 5107 section 5: the relay's address stands as the server identifier.
  if (const auto identifier = agent ? ReferenceSubOption(*agent, 11) : std::nullopt;
      identifier && !message.header.giaddr.IsZero() && Ipv4Address(*identifier).IsUnicastHost()) {
    RINGDHCP_CHECK(decision.server_identifier.value == *identifier);
  }
}

void CheckRelay(std::span<const std::uint8_t> payload) {
  static Message message;
  static const SubnetSelector selector(Subnets());
  static const std::vector<Ipv4Address> host_addresses = {*Ipv4Address::Parse("192.0.2.1")};
  static const LinkView link{"lan0", {{host_addresses[0], Subnets()[0].prefix}}, &host_addresses};
  if (!CheckDecode(payload, message)) return;
  CheckSubOptions(message);
  CheckSelection(message, selector, link);
  LeaseEngine engine({.subnets = Subnets()}, message.header.xid);
  static Decision decision;
  engine.Handle(message, link, {.monotonic_ns = 1'000'000'000, .wall_s = 1'700'000'000}, true,
                decision);
  if (decision.has_mutation) {
    const auto agent = message.options.Find(OptionCode::kRelayAgentInformation)
                           .value_or(std::span<const std::uint8_t>());
    const auto kept = decision.mutation.RelayInformation();
    RINGDHCP_CHECK(kept.size() == std::min<std::size_t>(agent.size(), 255));
    RINGDHCP_CHECK(std::equal(kept.begin(), kept.end(), agent.begin()));
  }
  if (decision.kind == Decision::Kind::kReply) CheckReply(message, decision);
}

}  // namespace
}  // namespace ringdhcp

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  return ringdhcp::MutateMessage(data, size, size_max, seed,
                                 ringdhcp::MutationFocus::kRelayInformation);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringdhcp::CheckRelay({data, size});
  return 0;
}
