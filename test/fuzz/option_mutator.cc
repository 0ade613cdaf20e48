#include "test/fuzz/option_mutator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "server/base/prng.h"
#include "test/unit/dhcp4/client_message.h"

// Of libFuzzer, or of replay_main.cc.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace ringdhcp {

namespace {

constexpr std::size_t kValueMax = 255;
constexpr std::uint8_t kAgent = 82, kOverload = 52;

// The codes that the server reads, and some it does not.
constexpr std::uint8_t kCodes[] = {0,  1,  3,  6,  12, 15, 26, 50, 51, 52, 53,  54,
                                   55, 56, 57, 58, 59, 60, 61, 81, 82, 93, 118, 255};
// RFC 3046, 3527, 3993, 5010, 5107, 7839.
constexpr std::uint8_t kSubOptions[] = {1, 2, 5, 6, 10, 11, 12, 13, 151, 0, 255};
constexpr std::uint32_t kNumbers[] = {0,          1,          60,         576,        1500,
                                      0xC0000201, 0xC000020A, 0xC6336401, 0xC633640A, 0x7F000001,
                                      0xE0000001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
struct FixedField {
  std::size_t at, size;
};
constexpr FixedField kFixedFields[] = {{kOpAt, 1},     {kHtypeAt, 1},  {kHlenAt, 1},
                                       {kHopsAt, 1},   {kXidAt, 4},    {kFlagsAt, 2},
                                       {kCiaddrAt, 4}, {kGiaddrAt, 4}, {kChaddrAt, 4}};

struct Piece {
  std::uint8_t code = 0;
  Octets value;
};
using Pieces = std::vector<Piece>;

// Reads code, length, value; whatever is cut at the end is left out. `bare`: sub-options, where 0
// and 255 are codes like any other.
Pieces ReadPieces(std::span<const std::uint8_t> field, bool bare) {
  Pieces pieces;
  std::size_t at = 0;
  while (at < field.size() && (bare || field[at] != 255)) {
    if (!bare && field[at] == 0) {
      ++at;
      continue;
    }
    if (at + 2 > field.size() || at + 2 + field[at + 1] > field.size()) break;
    pieces.push_back({field[at], ToOctets(field.subspan(at + 2, field[at + 1]))});
    at += std::size_t{2} + field[at + 1];
  }
  return pieces;
}

Octets WritePieces(const Pieces& pieces) {
  Octets octets;
  for (const Piece& piece : pieces) {
    octets.push_back(piece.code);
    octets.push_back(static_cast<std::uint8_t>(piece.value.size()));
    octets.insert(octets.end(), piece.value.begin(), piece.value.end());
  }
  return octets;
}

class MessageMutator {
 public:
  MessageMutator(std::span<const std::uint8_t> payload, std::uint32_t seed, MutationFocus focus)
      : prng_(seed), focus_(focus), head_(payload.begin(), payload.begin() + kOptionsAt) {
    fields_[0] = ReadPieces(payload.subspan(kOptionsAt), false);
    fields_[1] = ReadPieces(payload.subspan(kFileAt, 128), false);
    fields_[2] = ReadPieces(payload.subspan(kSnameAt, 64), false);
  }

  Octets Run() {
    for (std::uint64_t changes = 1 + prng_.Below(3); changes > 0; --changes) {
      if (focus_ == MutationFocus::kRelayInformation && prng_.Below(3) != 0) {
        MutateAgent();
      } else {
        Change();
      }
    }
    return Write();
  }

 private:
  template <std::size_t kSize>
  std::uint8_t OneOf(const std::uint8_t (&choices)[kSize]) {
    return prng_.Below(12) == 0 ? static_cast<std::uint8_t>(prng_.Next())
                                : choices[prng_.Below(kSize)];
  }

  void Change() {
    Pieces& field = fields_[prng_.Below(4) == 0 ? 1 + prng_.Below(2) : 0];
    if (field.empty() && prng_.Below(2) == 0) return Insert(field, {OneOf(kCodes), Value()});
    const std::size_t i = field.empty() ? 0 : prng_.Below(field.size());
    switch (prng_.Below(field.empty() ? 3 : 10)) {
      case 0:
        return Insert(field, {OneOf(kCodes), Value()});
      case 1:
        return Overload();
      case 2:
        return ChangeHeader();
      case 3:
        field.erase(field.begin() + static_cast<std::ptrdiff_t>(i));
        return;
      case 4:
        return Insert(field, field[i]);
      case 5:
        return Split(field, i);
      case 6:
        return Move(field, i);
      case 7:
        field[i].code = OneOf(kCodes);
        return;
      case 8:
        return MutateAgent();
      default:
        MutateValue(field[i].value);
    }
  }

  static void InsertAt(Pieces& field, std::size_t at, Piece piece) {
    field.insert(field.begin() + static_cast<std::ptrdiff_t>(at), std::move(piece));
  }
  void Insert(Pieces& field, Piece piece) {
    InsertAt(field, prng_.Below(field.size() + 1), std::move(piece));
  }

  // RFC 3396: the pieces need not stand together, and may be empty.
  void Split(Pieces& field, std::size_t i) {
    const auto cut = static_cast<std::ptrdiff_t>(prng_.Below(field[i].value.size() + 1));
    Piece rest{field[i].code, Octets(field[i].value.begin() + cut, field[i].value.end())};
    field[i].value.resize(static_cast<std::size_t>(cut));
    InsertAt(field, i + 1 + prng_.Below(field.size() - i), std::move(rest));
  }

  // To another field, which option 52 then announces, or not.
  void Move(Pieces& field, std::size_t i) {
    Piece piece = std::move(field[i]);
    field.erase(field.begin() + static_cast<std::ptrdiff_t>(i));
    Insert(fields_[prng_.Below(3)], std::move(piece));
    if (prng_.Below(4) != 0) Overload();
  }

  void Overload() {
    std::uint8_t value = 0;
    if (!fields_[1].empty()) value |= 1;
    if (!fields_[2].empty()) value |= 2;
    if (prng_.Below(4) == 0) value = static_cast<std::uint8_t>(prng_.Below(5));
    for (Piece& piece : fields_[0]) {
      if (piece.code == kOverload && prng_.Below(4) != 0) {
        piece.value = {value};
        return;
      }
    }
    Insert(fields_[0], {kOverload, {value}});
  }

  void ChangeHeader() {
    const FixedField field = kFixedFields[prng_.Below(std::size(kFixedFields))];
    const auto number = prng_.Below(3) == 0 ? static_cast<std::uint32_t>(prng_.Next())
                                            : kNumbers[prng_.Below(std::size(kNumbers))];
    for (std::size_t i = 0; i < field.size; ++i) {
      head_[field.at + i] = static_cast<std::uint8_t>(number >> (8 * (field.size - 1 - i)));
    }
  }

  Octets Value() {
    Octets value;
    switch (prng_.Below(4)) {
      case 0:
        return {static_cast<std::uint8_t>(1 + prng_.Below(8))};
      case 1: {
        const std::uint32_t number = kNumbers[prng_.Below(std::size(kNumbers))];
        for (int shift = 24; shift >= 0; shift -= 8) {
          value.push_back(static_cast<std::uint8_t>(number >> shift));
        }
        return value;
      }
      default:
        value.resize(prng_.Below(prng_.Below(6) == 0 ? kValueMax + 1 : 12));
        for (std::uint8_t& octet : value) octet = static_cast<std::uint8_t>(prng_.Below(8));
        return value;
    }
  }

  void MutateValue(Octets& value) {
    if (prng_.Below(4) == 0) {
      value = Value();
      return;
    }
    const std::size_t size = value.size();
    value.resize(kValueMax);
    value.resize(LLVMFuzzerMutate(value.data(), size, kValueMax));
  }

  // Sub-options of option 82 (RFC 3046 section 2.0), in one of its pieces.
  void MutateAgent() {
    std::vector<Piece*> agents;
    for (Pieces& field : fields_) {
      for (Piece& piece : field) {
        if (piece.code == kAgent) agents.push_back(&piece);
      }
    }
    if (agents.empty()) {
      InsertAt(fields_[0], fields_[0].size(), {kAgent, {1, 2, 'a', 'b'}});
      return;
    }
    Octets& value = agents[prng_.Below(agents.size())]->value;
    Pieces parts = ReadPieces(value, true);
    const std::size_t i = parts.empty() ? 0 : prng_.Below(parts.size());
    switch (prng_.Below(parts.empty() ? 1 : 5)) {
      case 0:
        Insert(parts, {OneOf(kSubOptions), Value()});
        break;
      case 1:
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      case 2:
        parts[i].code = OneOf(kSubOptions);
        break;
      case 3:
        MutateValue(parts[i].value);
        break;
      default:
        Insert(parts, parts[i]);
    }
    value = WritePieces(parts);
    if (prng_.Below(8) == 0 && !value.empty()) {  // lengths that do not fit
      value[prng_.Below(value.size())] = static_cast<std::uint8_t>(prng_.Next());
    }
    value.resize(std::min(value.size(), kValueMax));
  }

  Octets Write() {
    Octets octets = head_;
    // A field without options keeps what it holds: names, or options nobody announced.
    const auto place = [&](const Pieces& pieces, std::size_t at, std::size_t size) {
      if (pieces.empty()) return;
      Octets written = WritePieces(pieces);
      written.push_back(255);
      written.resize(size);
      std::copy(written.begin(), written.end(), octets.begin() + static_cast<std::ptrdiff_t>(at));
    };
    place(fields_[1], kFileAt, 128);
    place(fields_[2], kSnameAt, 64);
    const Octets options = WritePieces(fields_[0]);
    octets.insert(octets.end(), options.begin(), options.end());
    if (prng_.Below(16) != 0) octets.push_back(255);
    return octets;
  }

  Prng prng_;
  MutationFocus focus_;
  Octets head_;
  std::array<Pieces, 3> fields_;  // options, file, sname
};

}  // namespace

std::size_t MutateMessage(std::uint8_t* data, std::size_t size, std::size_t size_max,
                          std::uint32_t seed, MutationFocus focus) {
  if (size_max < kOptionsAt) return LLVMFuzzerMutate(data, size, size_max);
  if (size < kOptionsAt) {
    const Octets fresh = ClientMessage(MessageType::kDiscover).WithoutPadding().Build();
    size = std::min(fresh.size(), size_max);
    std::copy_n(fresh.begin(), size, data);
    return size;
  }
  if (Prng(~std::uint64_t{seed}).Below(10) == 0) return LLVMFuzzerMutate(data, size, size_max);
  const Octets changed = MessageMutator({data, size}, seed, focus).Run();
  size = std::min(changed.size(), size_max);
  std::copy_n(changed.begin(), size, data);
  return size;
}

}  // namespace ringdhcp
