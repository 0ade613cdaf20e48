#include "test/unit/dhcp4/reference_decoder.h"

#include <algorithm>

#include "server/dhcp4/decode.h"

namespace ringdhcp {

namespace {

// Appends the options of payload[at, end) to `read`. False when the last of them is cut.
bool ReadField(std::span<const std::uint8_t> payload, std::size_t at, std::size_t end,
               ReferenceMessage& read) {
  const bool options_field = at == kOptionsAt;
  while (at < end && payload[at] != 255) {
    const std::uint8_t code = payload[at];
    if (code == 0) {
      at += 1;
      continue;
    }
    if (at + 1 >= end) return false;
    const std::size_t length = payload[at + 1];
    if (at + 2 + length > end) return false;
    if (code != 52 || options_field) {
      auto& joined = read.options[code];
      if (!joined) joined.emplace();
      for (std::size_t i = 0; i < length; ++i) joined->push_back(payload[at + 2 + i]);
    }
    at += 2 + length;
  }
  return true;
}

std::optional<DropReason> ReadOptions(std::span<const std::uint8_t> payload,
                                      ReferenceMessage& read) {
  const auto& type = read.options[53];
  if (!ReadField(payload, kOptionsAt, payload.size(), read) && !type) {
    return DropReason::kMalformedOptions;
  }
  const auto overload = read.options[52];
  const int fields = overload && overload->size() == 1 ? (*overload)[0] : 0;
  if ((fields == 1 || fields == 3) && !ReadField(payload, kFileAt, kCookieAt, read) && !type) {
    return DropReason::kMalformedOptions;
  }
  if ((fields == 2 || fields == 3) && !ReadField(payload, kSnameAt, kFileAt, read) && !type) {
    return DropReason::kMalformedOptions;
  }
  if (!type || type->size() != 1) return DropReason::kNoMessageType;
  const int value = (*type)[0];
  for (const int served : {1, 3, 4, 7, 8}) {
    if (value == served) return std::nullopt;
  }
  for (const int from_servers : {2, 5, 6, 9, 11, 12, 13, 15, 17}) {
    if (value == from_servers) return DropReason::kServerMessage;
  }
  return DropReason::kUnsupportedMessage;
}

}  // namespace

ReferenceMessage ReferenceDecode(std::span<const std::uint8_t> payload) {
  ReferenceMessage read;
  if (payload.size() > 2048) {
    read.drop = DropReason::kTruncated;
  } else if (payload.size() < 240) {
    read.drop = DropReason::kTooShort;
  } else if (payload[kOpAt] != 1) {
    read.drop = DropReason::kNotRequest;
  } else if (payload[kHlenAt] > 16) {
    read.drop = DropReason::kBadHardwareLength;
  } else if (payload[236] != 0x63 || payload[237] != 0x82 || payload[238] != 0x53 ||
             payload[239] != 0x63) {
    read.drop = DropReason::kBadCookie;
  } else if (payload[kHopsAt] > 16) {
    read.drop = DropReason::kHopLimit;
  } else {
    const std::uint8_t first = payload[kGiaddrAt];
    const bool zero = std::all_of(payload.begin() + kGiaddrAt, payload.begin() + kChaddrAt,
                                  [](std::uint8_t o) { return o == 0; });
    if (!zero && (first == 0 || first == 127 || first >= 224)) {
      read.drop = DropReason::kBadGiaddr;
    } else {
      read.drop = ReadOptions(payload, read);
    }
  }
  return read;
}

std::string CompareWithReference(std::span<const std::uint8_t> guarded_payload) {
  static Message message;  // reused as a shard does, so that leftovers would show
  const std::optional<DropReason> drop = Decode(guarded_payload, message);
  const ReferenceMessage reference = ReferenceDecode(guarded_payload);
  if (drop != reference.drop) {
    const auto name = [](const std::optional<DropReason>& reason) {
      return reason ? std::string(DropReasonLabel(*reason)) : std::string("decoded");
    };
    return name(drop) + " instead of " + name(reference.drop);
  }
  if (drop) return "";
  for (std::size_t code = 0; code < 256; ++code) {
    const auto value = message.options.Find(OptionCode{static_cast<std::uint8_t>(code)});
    const auto& expected = reference.options[code];
    if (value.has_value() != expected.has_value() ||
        (value && !std::equal(value->begin(), value->end(), expected->begin(), expected->end()))) {
      return "another value of option " + std::to_string(code);
    }
  }
  return "";
}

}  // namespace ringdhcp
