#include "server/dhcp4/encode.h"

#include <algorithm>

#include "server/base/byte_writer.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kSnameOffset = 44;  // RFC 2131 figure 1
constexpr std::size_t kSnameSize = 64;
constexpr std::size_t kFileOffset = kSnameOffset + kSnameSize;
constexpr std::size_t kFileSize = kBootpHeaderSize - kFileOffset;
constexpr std::size_t kOptionsOffset = kBootpHeaderSize + 4;  // after the magic cookie
constexpr std::size_t kOptionHeaderSize = 2;                  // code and length
constexpr std::size_t kEndSize = 1;
constexpr std::size_t kOverloadSize = kOptionHeaderSize + 1;
constexpr std::size_t kOptionLengthMax = 255;
constexpr std::size_t kIpUdpHeaderSize = 28;
constexpr std::size_t kMaximumMessageSizeMin = 576;  // RFC 2132 section 9.10

// How much of the header holds options: the values of option 52 that the encoder uses, in the order
// in which it tries them (RFC 2132 section 9.3).
enum class Overload : std::uint8_t { kNone = 0, kFile = 1, kFileAndSname = 3 };

// The size on the wire of a value in as few pieces as possible.
std::size_t EncodedSize(std::size_t value_size) {
  const std::size_t pieces =
      value_size == 0 ? 1 : (value_size + kOptionLengthMax - 1) / kOptionLengthMax;
  return value_size + pieces * kOptionHeaderSize;
}

// The options of the reply, by index, that are to be written.
struct Chosen {
  std::array<bool, Reply::kOptionsMax> in{};
  // Octets that they need at least.
  std::size_t size = 0;

  void Add(std::size_t i, const ReplyOption& option) {
    in[i] = true;
    size += EncodedSize(option.value.size());
  }
  void Remove(std::size_t i, const ReplyOption& option) {
    in[i] = false;
    size -= EncodedSize(option.value.size());
  }
};

// Clients look for these before they look for option 52, and some know nothing of option 52.
bool StaysInOptionsField(OptionCode code) {
  return code == OptionCode::kMessageType || code == OptionCode::kServerIdentifier ||
         code == OptionCode::kLeaseTime;
}

void WriteOption(OptionCode code, std::span<const std::uint8_t> value, ByteWriter& field) {
  do {
    const auto piece = value.first(std::min(value.size(), kOptionLengthMax));
    field.WriteU8(static_cast<std::uint8_t>(code));
    field.WriteU8(static_cast<std::uint8_t>(piece.size()));
    field.WriteOctets(piece);
    value = value.subspan(piece.size());
  } while (!value.empty());
}

// One attempt to lay the chosen options out in `message`, which is the space for the whole reply.
class Attempt {
 public:
  Attempt(std::span<std::uint8_t> message, Overload overload,
          std::optional<std::span<const std::uint8_t>> relay_agent_information)
      : overload_(overload),
        relay_agent_information_(relay_agent_information),
        options_(message.subspan(kOptionsOffset)),
        file_(message.subspan(kFileOffset, kFileSize)),
        sname_(message.subspan(kSnameOffset, kSnameSize)) {
    reserved_ = kEndSize;
    if (overload_ != Overload::kNone) reserved_ += kOverloadSize;
    if (relay_agent_information_) reserved_ += EncodedSize(relay_agent_information_->size());
  }

  bool Run(std::span<const ReplyOption> options, const Chosen& chosen) {
    if (reserved_ > options_.remaining()) return false;
    // Most attempts that fail do so here, before anything is copied.
    if (chosen.size > Room(0) + Room(1) + Room(2)) return false;
    for (std::size_t i = 0; i < options.size(); ++i) {
      if (chosen.in[i] && !Place(options[i])) return false;
    }
    Finish();
    return true;
  }

  // Octets used of the options field; valid after a successful Run.
  std::size_t options_size() const { return options_.size(); }

 private:
  static constexpr std::size_t kFields = 3;

  ByteWriter& Field(std::size_t i) { return i == 0 ? options_ : i == 1 ? file_ : sname_; }

  // Octets still free in field i, besides what is reserved for the end of the field.
  std::size_t Room(std::size_t i) {
    if (i == 0) return options_.remaining() - reserved_;
    const bool used = i == 1 ? overload_ != Overload::kNone : overload_ == Overload::kFileAndSname;
    return used ? Field(i).remaining() - kEndSize : 0;
  }

  // Whole into the first field that has the room, else in pieces over the fields in the order in
  // which receivers join them. Not all clients join short options, so a short one is cut only when
  // the reply could not be sent without it.
  bool Place(const ReplyOption& option) {
    const bool stays = StaysInOptionsField(option.code);
    for (std::size_t i = 0; i < (stays ? 1 : kFields); ++i) {
      if (EncodedSize(option.value.size()) <= Room(i)) {
        WriteOption(option.code, option.value, Field(i));
        return true;
      }
    }
    if (stays || (option.value.size() <= kOptionLengthMax && !option.required)) return false;
    return PlaceInPieces(option);
  }

  bool PlaceInPieces(const ReplyOption& option) {
    std::span<const std::uint8_t> rest = option.value;
    for (std::size_t i = 0; i < kFields; ++i) {
      while (!rest.empty() && Room(i) > kOptionHeaderSize) {
        const auto piece =
            rest.first(std::min({rest.size(), Room(i) - kOptionHeaderSize, kOptionLengthMax}));
        WriteOption(option.code, piece, Field(i));
        rest = rest.subspan(piece.size());
      }
    }
    return rest.empty() && !option.value.empty();
  }

  void Finish() {
    if (overload_ != Overload::kNone) {
      const auto overload = static_cast<std::uint8_t>(overload_);
      WriteOption(OptionCode::kOverload, {&overload, 1}, options_);
    }
    if (relay_agent_information_) {
      WriteOption(OptionCode::kRelayAgentInformation, *relay_agent_information_, options_);
    }
    constexpr auto kEnd = static_cast<std::uint8_t>(OptionCode::kEnd);
    options_.WriteU8(kEnd);
    if (overload_ != Overload::kNone) file_.WriteU8(kEnd);
    if (overload_ == Overload::kFileAndSname) sname_.WriteU8(kEnd);
    file_.WriteZeros(file_.remaining());
    sname_.WriteZeros(sname_.remaining());
  }

  Overload overload_;
  std::optional<std::span<const std::uint8_t>> relay_agent_information_;
  ByteWriter options_;
  ByteWriter file_;
  ByteWriter sname_;
  std::size_t reserved_;
};

// The layout of one reply: decides what is left out when not all of it fits.
class Layout {
 public:
  Layout(const Reply& reply, std::span<std::uint8_t> message)
      : options_(reply.options()),
        relay_agent_information_(reply.relay_agent_information),
        message_(message) {}

  // Returns the octets used of the options field; nullopt when the required options do not fit.
  std::optional<std::size_t> Run() {
    Chosen chosen;
    for (std::size_t i = 0; i < options_.size(); ++i) chosen.Add(i, options_[i]);
    if (const auto size = Try(chosen)) return size;
    for (std::size_t i = 0; i < options_.size(); ++i) {
      if (!options_[i].required) chosen.Remove(i, options_[i]);
    }
    if (!Try(chosen)) {
      // RFC 3046 section 2.2: a reply without the relay's information is better than none.
      if (!relay_agent_information_) return std::nullopt;
      relay_agent_information_.reset();
      ++dropped_;
      if (!Try(chosen)) return std::nullopt;
    }
    for (std::size_t i = 0; i < options_.size(); ++i) {
      if (chosen.in[i]) continue;
      chosen.Add(i, options_[i]);
      if (Try(chosen)) continue;
      chosen.Remove(i, options_[i]);
      ++dropped_;
    }
    return Try(chosen);
  }

  std::size_t dropped() const { return dropped_; }

 private:
  std::optional<std::size_t> Try(const Chosen& chosen) {
    for (const Overload overload : {Overload::kNone, Overload::kFile, Overload::kFileAndSname}) {
      Attempt attempt(message_, overload, relay_agent_information_);
      if (attempt.Run(options_, chosen)) return attempt.options_size();
    }
    return std::nullopt;
  }

  std::span<const ReplyOption> options_;
  std::optional<std::span<const std::uint8_t>> relay_agent_information_;
  std::span<std::uint8_t> message_;
  std::size_t dropped_ = 0;
};

// All of the header but sname and file, and the cookie.
void WriteHeader(const Header& header, std::span<std::uint8_t> message) {
  ByteWriter writer(message);
  writer.WriteU8(header.op);
  writer.WriteU8(header.htype);
  writer.WriteU8(header.hlen);
  writer.WriteU8(header.hops);
  writer.WriteU32(header.xid);
  writer.WriteU16(header.secs);
  writer.WriteU16(header.flags);
  writer.WriteU32(header.ciaddr.value);
  writer.WriteU32(header.yiaddr.value);
  writer.WriteU32(header.siaddr.value);
  writer.WriteU32(header.giaddr.value);
  writer.WriteOctets(header.chaddr);
  ByteWriter(message.subspan(kBootpHeaderSize, 4)).WriteU32(kMagicCookie);
}

}  // namespace

std::size_t MaximumPayload(const OptionSet& options, std::size_t interface_mtu) {
  const std::size_t asked = options.FindU16(OptionCode::kMaximumMessageSize).value_or(0);
  const std::size_t datagram = std::min(std::max(asked, kMaximumMessageSizeMin), interface_mtu);
  if (datagram < kIpUdpHeaderSize) return 0;
  return std::min(datagram - kIpUdpHeaderSize, kReplyPayloadMax);
}

EncodeResult Encode(const Reply& reply, std::size_t payload_max, std::span<std::uint8_t> out) {
  const std::span<std::uint8_t> message = out.first(std::min(payload_max, out.size()));
  EncodeResult result;
  if (message.size() < kOptionsOffset + kEndSize) return result;
  Layout layout(reply, message);
  const std::optional<std::size_t> options_size = layout.Run();
  result.options_dropped = layout.dropped();
  if (!options_size) return result;
  WriteHeader(reply.header, message);
  result.size = kOptionsOffset + *options_size;
  const std::size_t padded = std::min(kReplyPayloadMin, message.size());
  if (result.size < padded) {
    const auto padding = message.subspan(result.size, padded - result.size);
    std::fill(padding.begin(), padding.end(), std::uint8_t{0});
    result.size = padded;
  }
  return result;
}

}  // namespace ringdhcp
