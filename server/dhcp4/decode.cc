#include "server/dhcp4/decode.h"

#include <algorithm>
#include <array>

#include "server/base/byte_reader.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kSnameOffset = 44;  // RFC 2131 figure 1
constexpr std::size_t kSnameSize = 64;
constexpr std::size_t kFileOffset = kSnameOffset + kSnameSize;
constexpr std::size_t kFileSize = kBootpHeaderSize - kFileOffset;
constexpr std::size_t kOptionsOffset = kBootpHeaderSize + 4;  // after the magic cookie
constexpr std::uint8_t kHopsMax = 16;                         // RFC 1542 section 4.1.1

constexpr std::uint8_t kOverloadFile = 1;  // RFC 2132 section 9.3; 3 means both
constexpr std::uint8_t kOverloadSname = 2;

// Calls visit(code, value) for each option of one field up to its end option; visit returns false
// to stop early. Returns false when an option runs past the end of the field. A missing end option
// is no error.
template <typename Visit>
bool ForEachOption(std::span<const std::uint8_t> field, Visit visit) {
  ByteReader reader(field);
  while (!reader.AtEnd()) {
    const OptionCode code{reader.ReadU8()};
    if (code == OptionCode::kPad) continue;
    if (code == OptionCode::kEnd) return true;
    const std::span<const std::uint8_t> value = reader.ReadOctets(reader.ReadU8());
    if (!reader.ok()) return false;
    if (!visit(code, value)) return true;
  }
  return true;
}

std::optional<DropReason> DecodeHeader(std::span<const std::uint8_t> payload, Header& header) {
  ByteReader reader(payload);
  header.op = reader.ReadU8();
  header.htype = reader.ReadU8();
  header.hlen = reader.ReadU8();
  header.hops = reader.ReadU8();
  header.xid = reader.ReadU32();
  header.secs = reader.ReadU16();
  header.flags = reader.ReadU16();
  header.ciaddr = Ipv4Address(reader.ReadU32());
  header.yiaddr = Ipv4Address(reader.ReadU32());
  header.siaddr = Ipv4Address(reader.ReadU32());
  header.giaddr = Ipv4Address(reader.ReadU32());
  const auto chaddr = reader.ReadOctets(kChaddrSize);
  std::copy(chaddr.begin(), chaddr.end(), header.chaddr.begin());
  if (header.op != kBootRequest) return DropReason::kNotRequest;
  if (header.hlen > kChaddrSize) return DropReason::kBadHardwareLength;
  if (ByteReader(payload.subspan(kBootpHeaderSize)).ReadU32() != kMagicCookie) {
    return DropReason::kBadCookie;
  }
  if (header.hops > kHopsMax) return DropReason::kHopLimit;
  if (!header.giaddr.IsZero() && !header.giaddr.IsUnicastHost()) return DropReason::kBadGiaddr;
  return std::nullopt;
}

// Sorts the values of option 53: those served, those only servers send, and the rest.
std::optional<DropReason> CheckMessageType(std::uint8_t type) {
  switch (type) {
    case 1:  // DHCPDISCOVER
    case 3:  // DHCPREQUEST
    case 4:  // DHCPDECLINE
    case 7:  // DHCPRELEASE
    case 8:  // DHCPINFORM
      return std::nullopt;
    case 2:   // DHCPOFFER
    case 5:   // DHCPACK
    case 6:   // DHCPNAK
    case 9:   // DHCPFORCERENEW (RFC 3203)
    case 11:  // DHCPLEASEUNASSIGNED, 12 DHCPLEASEUNKNOWN, 13 DHCPLEASEACTIVE (RFC 4388)
    case 12:
    case 13:
    case 15:  // DHCPLEASEQUERYDONE (RFC 6926)
    case 17:  // DHCPLEASEQUERYSTATUS (RFC 7724)
      return DropReason::kServerMessage;
    default:
      return DropReason::kUnsupportedMessage;
  }
}

}  // namespace

// Fills an OptionSet in two walks over the same fields: the first adds up the length of each code,
// the second copies, so that pieces of one code that lie apart end up next to each other.
class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> payload, OptionSet& set) : payload_(payload), set_(set) {}

  std::optional<DropReason> Run() {
    set_.entries_ = {};
    if (!MeasureFields()) return DropReason::kMalformedOptions;
    CopyFields();
    return std::nullopt;
  }

 private:
  bool MeasureFields() {
    AddField(payload_.subspan(kOptionsOffset));
    if (!Measure(0)) return false;
    // Decided by the options field alone: option 52 inside file or sname means nothing.
    const OptionSet::Entry& overload_entry = EntryOf(OptionCode::kOverload);
    const std::uint8_t overload = overload_entry.length == 1 ? last_overload_ : std::uint8_t{0};
    if (overload > (kOverloadFile | kOverloadSname)) return true;
    if (overload & kOverloadFile) AddField(payload_.subspan(kFileOffset, kFileSize));
    if (overload & kOverloadSname) AddField(payload_.subspan(kSnameOffset, kSnameSize));
    for (std::size_t i = 1; i < field_count_; ++i) {
      if (!Measure(i)) return false;
    }
    return true;
  }

  void AddField(std::span<const std::uint8_t> field) { fields_[field_count_++] = field; }

  // False when the field is cut inside an option and no option 53 was seen up to there: only then
  // nothing can be done with the message.
  bool Measure(std::size_t i) {
    const bool whole = ForEachCounted(i, [&](OptionCode code, auto value) {
      if (code == OptionCode::kOverload && value.size() == 1) last_overload_ = value.front();
      if (code == OptionCode::kMessageType) message_type_seen_ = true;
      OptionSet::Entry& entry = EntryOf(code);
      entry.length = static_cast<std::uint16_t>(entry.length + value.size());
    });
    return whole || message_type_seen_;
  }

  // ForEachOption over field i without any option 52 outside of the options field.
  template <typename Visit>
  bool ForEachCounted(std::size_t i, Visit visit) {
    return ForEachOption(fields_[i], [&](OptionCode code, auto value) {
      if (code != OptionCode::kOverload || i == 0) visit(code, value);
      return true;
    });
  }

  void CopyFields() {
    std::size_t used = 0;
    for (std::size_t i = 0; i < field_count_; ++i) {
      ForEachCounted(i, [&](OptionCode code, auto value) {
        OptionSet::Entry& entry = EntryOf(code);
        if (!entry.present) {  // its length still is the total: reserve the place for all pieces
          entry.present = true;
          entry.offset = static_cast<std::uint16_t>(used);
          used += entry.length;
          entry.length = 0;
        }
        std::copy(value.begin(), value.end(), set_.octets_.begin() + entry.offset + entry.length);
        entry.length = static_cast<std::uint16_t>(entry.length + value.size());
      });
    }
  }

  OptionSet::Entry& EntryOf(OptionCode code) {
    return set_.entries_[static_cast<std::size_t>(code)];
  }

  std::span<const std::uint8_t> payload_;
  OptionSet& set_;
  // In the order in which pieces are joined: options, file, sname (RFC 3396 section 5).
  std::array<std::span<const std::uint8_t>, 3> fields_;
  std::size_t field_count_ = 0;
  std::uint8_t last_overload_ = 0;
  bool message_type_seen_ = false;
};

std::optional<DropReason> Decode(std::span<const std::uint8_t> payload, Message& message) {
  // The values of all options lie in the payload without overlap, so this also bounds OptionSet.
  if (payload.size() > kDatagramMax) return DropReason::kTruncated;
  if (payload.size() < kOptionsOffset) return DropReason::kTooShort;
  if (const auto reason = DecodeHeader(payload, message.header)) return reason;
  if (const auto reason = Decoder(payload, message.options).Run()) return reason;
  const std::optional<std::uint8_t> type = message.options.FindU8(OptionCode::kMessageType);
  if (!type) return DropReason::kNoMessageType;
  message.type = MessageType{*type};
  return CheckMessageType(*type);
}

std::optional<MessageType> PeekMessageType(std::span<const std::uint8_t> payload) {
  if (payload.size() < kOptionsOffset) return std::nullopt;
  std::optional<MessageType> type;
  ForEachOption(payload.subspan(kOptionsOffset), [&](OptionCode code, auto value) {
    if (code != OptionCode::kMessageType) return true;
    if (value.size() == 1 && value[0] >= 1 && value[0] <= 8) type = MessageType{value[0]};
    return false;
  });
  return type;
}

}  // namespace ringdhcp
