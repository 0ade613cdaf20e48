#include "test/fuzz/packet_checks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "server/base/check.h"
#include "server/dhcp4/client_key.h"
#include "server/dhcp4/decode.h"
#include "server/dhcp4/encode.h"
#include "test/unit/dhcp4/reference_decoder.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kRelayAgentInformation = 82;
constexpr std::size_t kOverload = 52;
constexpr std::size_t kMessageTypeCode = 53;

GuardedPayload& Guarded() {
  static GuardedPayload guarded;
  return guarded;
}

OptionCode Code(std::size_t code) { return OptionCode{static_cast<std::uint8_t>(code)}; }

bool SameOctets(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// The code and value of the last option of the options field; 0 when there is none.
struct LastOption {
  std::size_t code = 0;
  std::size_t first_at = 0;  // of the pieces of this code that stand together at the end
};
LastOption FindLast(std::span<const std::uint8_t> payload) {
  LastOption last;
  std::size_t at = kOptionsAt;
  while (at < payload.size() && payload[at] != 255) {
    if (payload[at] == 0) {
      ++at;
      continue;
    }
    if (payload[at] != last.code) last = {payload[at], at};
    at += std::size_t{2} + payload[at + 1];
  }
  return last;
}

// Places pieces of options into one field of a message.
class Field {
 public:
  explicit Field(std::size_t size) : room_(size) {}
  // Appends as much of `value` as `piece_max` and the room allow; returns how much. 0 of a value
  // that is not empty: there is no room.
  std::optional<std::size_t> Put(std::size_t code, std::span<const std::uint8_t> value,
                                 std::size_t piece_max) {
    if (room_ < octets_.size() + 3) return std::nullopt;  // code, length, and the end option
    const std::size_t size = std::min({value.size(), piece_max, room_ - octets_.size() - 3});
    if (size == 0 && !value.empty()) return std::nullopt;
    octets_.push_back(static_cast<std::uint8_t>(code));
    octets_.push_back(static_cast<std::uint8_t>(size));
    octets_.insert(octets_.end(), value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
    return size;
  }
  void Pad() {
    if (octets_.size() + 1 < room_) octets_.push_back(0);
  }
  const Octets& octets() const { return octets_; }

 private:
  std::size_t room_;
  Octets octets_;
};

}  // namespace

bool CheckDecode(std::span<const std::uint8_t> payload, Message& message) {
  // The guard page is for payloads that may be real; longer ones are dropped before they are read.
  const std::span<const std::uint8_t> held =
      Guarded().Hold(payload.first(std::min<std::size_t>(payload.size(), 4096)));
  const std::string difference = CompareWithReference(held);
  if (!difference.empty()) std::fprintf(stderr, "%s\n", difference.c_str());
  RINGDHCP_CHECK(difference.empty());
  const auto peeked = PeekMessageType(held);
  if (Decode(held, message)) return false;
  RINGDHCP_CHECK(!peeked || *peeked == message.type);
  RINGDHCP_CHECK(message.header.hlen <= kChaddrSize);
  const auto identity = IdentifyClient(message);
  RINGDHCP_CHECK(!identity || identity->kind != ClientKey::Kind::kNone);
  return true;
}

void CheckRoundTrip(const Message& message, Prng prng) {
  static Reply reply;
  reply.Clear();
  reply.header = message.header;
  std::array<bool, 256> given{}, required{};
  const bool all_required = prng.Below(4) == 0;
  for (std::size_t code = 1; code < 255 && reply.options().size() < Reply::kOptionsMax; ++code) {
    const auto value = message.options.Find(Code(code));
    if (!value || code == kOverload || code == kRelayAgentInformation) continue;
    given[code] = true;
    required[code] = all_required || code == kMessageTypeCode || prng.Below(4) == 0;
    reply.Add(Code(code), *value, required[code]);
  }
  reply.relay_agent_information = message.options.Find(OptionCode::kRelayAgentInformation);
  given[kRelayAgentInformation] = reply.relay_agent_information.has_value();

  const std::size_t payload_max =
      prng.Below(2) == 0 ? MaximumPayload(message.options, 1500) : prng.Below(kReplyPayloadMax + 1);
  std::array<std::uint8_t, kReplyPayloadMax> out{};
  const EncodeResult result = Encode(reply, payload_max, out);
  if (result.size == 0) return;
  RINGDHCP_CHECK(result.size <= payload_max);
  RINGDHCP_CHECK(result.size >= std::min(payload_max, kReplyPayloadMin));

  const ReferenceMessage read = ReferenceDecode(std::span(out).first(result.size));
  RINGDHCP_CHECK(!read.drop);
  std::size_t missing = 0;
  for (std::size_t code = 0; code < 256; ++code) {
    if (code == kOverload) continue;
    const auto& value = read.options[code];
    RINGDHCP_CHECK(!value || given[code]);
    RINGDHCP_CHECK(value || !required[code]);
    if (value) RINGDHCP_CHECK(SameOctets(*value, *message.options.Find(Code(code))));
    missing += given[code] && !value;
  }
  RINGDHCP_CHECK(missing == result.options_dropped);
  if (const auto& agent = read.options[kRelayAgentInformation]) {
    // RFC 3046 section 2.2: the last option, in the options field.
    const LastOption last = FindLast(std::span(out).first(result.size));
    RINGDHCP_CHECK(last.code == kRelayAgentInformation);
    const std::size_t pieces = agent->empty() ? 1 : (agent->size() + 254) / 255;
    RINGDHCP_CHECK(last.first_at + agent->size() + 2 * pieces + 1 <= result.size);
  }
}

void CheckOtherLayout(std::span<const std::uint8_t> payload, const Message& message, Prng prng) {
  const std::uint8_t overload = static_cast<std::uint8_t>(prng.Below(4));
  // In the order in which pieces are joined (RFC 3396 section 5).
  Field fields[] = {Field(kDatagramMax - kOptionsAt), Field(overload & 1 ? 128 : 0),
                    Field(overload & 2 ? 64 : 0)};
  if (overload != 0) fields[0].Put(kOverload, {&overload, 1}, 1);
  for (std::size_t code = 1; code < 255; ++code) {
    const auto value = message.options.Find(Code(code));
    if (!value || code == kOverload) continue;
    std::span<const std::uint8_t> rest = *value;
    std::size_t field = prng.Below(3);
    bool begun = false;
    for (;;) {
      // An empty piece is legal between others, and a value may be only one of them.
      const std::size_t piece_max = rest.empty() ? 0 : 1 + prng.Below(255);
      const auto size = fields[field].Put(code, rest, piece_max);
      if (prng.Below(8) == 0) fields[field].Pad();
      if (size) {
        rest = rest.subspan(*size);
        if (prng.Below(6) == 0) field = std::min<std::size_t>(field + 1, 2);
      } else if (!begun && field != 0) {
        field = 0;
      } else if (++field == 3) {
        return;  // it does not fit in this layout
      }
      begun |= size.has_value() || field == 0;
      if (size && rest.empty()) break;
    }
  }
  Octets other(payload.begin(), payload.begin() + kOptionsAt);
  std::fill(other.begin() + kSnameAt, other.begin() + kCookieAt, std::uint8_t{0});
  const auto place = [&](std::size_t at, const Octets& octets) {
    std::copy(octets.begin(), octets.end(), other.begin() + static_cast<std::ptrdiff_t>(at));
    if (!octets.empty()) other[at + octets.size()] = 255;
  };
  place(kFileAt, fields[1].octets());
  place(kSnameAt, fields[2].octets());
  other.insert(other.end(), fields[0].octets().begin(), fields[0].octets().end());
  other.push_back(255);

  static Message read;
  RINGDHCP_CHECK(!Decode(other, read));
  for (std::size_t code = 1; code < 255; ++code) {
    if (code == kOverload) continue;
    const auto expected = message.options.Find(Code(code));
    const auto value = read.options.Find(Code(code));
    RINGDHCP_CHECK(value.has_value() == expected.has_value());
    if (value) RINGDHCP_CHECK(SameOctets(*value, *expected));
  }
}

}  // namespace ringdhcp
