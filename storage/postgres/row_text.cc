#include "storage/postgres/row_text.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ringdhcp {

namespace {

constexpr std::array<std::string_view, 6> kStates = {"free",     "offered", "bound",
                                                     "released", "expired", "declined"};
// The end of the year 9999: timestamptz reaches further, people and tools do not.
constexpr std::int64_t kLatest = 253'402'300'799;

constexpr std::uint8_t kCircuitId = 1;  // RFC 3046 section 2.0
constexpr std::uint8_t kRemoteId = 2;

void AppendHex(std::string& text, std::span<const std::uint8_t> octets) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t octet : octets) {
    text += kDigits[octet >> 4];
    text += kDigits[octet & 15];
  }
}

/// The first sub-option `code` of option 82; nullopt when there is none.
std::optional<std::span<const std::uint8_t>> SubOption(std::span<const std::uint8_t> relay,
                                                       std::uint8_t code) {
  while (relay.size() >= 2) {
    const std::size_t length = relay[1];
    if (relay.size() < 2 + length) return std::nullopt;
    if (relay[0] == code) return relay.subspan(2, length);
    relay = relay.subspan(2 + length);
  }
  return std::nullopt;
}

/// Text in an array literal: quoted, with backslashes and quotes escaped.
void AppendQuoted(std::string& array, std::string_view text) {
  array += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') array += '\\';
    array += c;
  }
  array += '"';
}

void AppendEscaped(std::string& array, std::optional<std::span<const std::uint8_t>> octets) {
  if (octets.has_value()) {
    AppendQuoted(array, EscapeOctets(*octets));
  } else {
    array += "NULL";
  }
}

void AppendHexOrNull(std::string& array, std::span<const std::uint8_t> octets) {
  if (octets.empty()) {
    array += "NULL";
    return;
  }
  AppendHex(array, octets);
}

/// Seconds for to_timestamp.
void AppendTime(std::string& array, std::int64_t seconds) {
  if (seconds > kLatest) {
    array += "Infinity";
  } else {
    absl::StrAppend(&array, seconds);
  }
}

std::optional<std::uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

template <std::size_t kSize>
bool ReadHex(std::string_view text, std::array<std::uint8_t, kSize>& octets, std::uint8_t& length) {
  if (text.size() % 2 != 0 || text.size() / 2 > kSize) return false;
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    const auto high = HexDigit(text[2 * i]);
    const auto low = HexDigit(text[2 * i + 1]);
    if (!high.has_value() || !low.has_value()) return false;
    octets[i] = static_cast<std::uint8_t>((*high << 4) | *low);
  }
  length = static_cast<std::uint8_t>(text.size() / 2);
  return true;
}

}  // namespace

std::string EscapeOctets(std::span<const std::uint8_t> octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    if (octet == '\\') {
      text += "\\\\";
    } else if (octet >= 0x20 && octet <= 0x7E) {
      text += static_cast<char>(octet);
    } else {
      text += '\\';
      text += static_cast<char>('0' + (octet >> 6));
      text += static_cast<char>('0' + ((octet >> 3) & 7));
      text += static_cast<char>('0' + (octet & 7));
    }
  }
  return text;
}

void LeaseArrays::Clear() {
  for (std::string& column : columns_) column = "{";
}

void LeaseArrays::Add(const LeaseRecord& record) {
  for (std::string& column : columns_) {
    if (column.size() > 1) column += ',';
  }
  columns_[0] += record.address.ToString();
  absl::StrAppend(&columns_[1], record.subnet.value);
  columns_[2] += kStates[static_cast<std::size_t>(record.state)];
  absl::StrAppend(&columns_[3], unsigned{record.htype});
  columns_[4] += '"';  // quoted, because it may be empty
  for (std::size_t i = 0; i < record.hlen; ++i) {
    if (i > 0) columns_[4] += ':';
    AppendHex(columns_[4], {&record.chaddr[i], 1});
  }
  columns_[4] += '"';
  AppendHexOrNull(columns_[5], record.ClientId());
  const auto host_name = record.HostName();
  AppendEscaped(columns_[6], host_name.empty() ? std::nullopt : std::optional(host_name));
  AppendEscaped(columns_[7], SubOption(record.RelayInformation(), kCircuitId));
  AppendEscaped(columns_[8], SubOption(record.RelayInformation(), kRemoteId));
  AppendHexOrNull(columns_[9], record.RelayInformation());
  AppendTime(columns_[10], std::min(record.starts_wall_s, kLatest));
  AppendTime(columns_[11], record.expires_wall_s);
  constexpr std::uint64_t kVersionMax = std::numeric_limits<std::int64_t>::max();
  absl::StrAppend(&columns_[12], std::min(record.version, kVersionMax));
}

const std::array<std::string, LeaseArrays::kColumns>& LeaseArrays::Finish() {
  for (std::string& column : columns_) column += '}';
  return columns_;
}

std::optional<LeaseRecord> ParseLeaseLine(std::string_view line) {
  constexpr std::size_t kFields = 12;
  std::array<std::string_view, kFields> fields;
  if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (i + 1 == kFields)) return std::nullopt;
    fields[i] = line.substr(0, end);
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
  const auto number = [&fields](std::size_t i, auto* value) {
    return absl::SimpleAtoi(absl::string_view(fields[i].data(), fields[i].size()), value);
  };
  LeaseRecord record;
  std::uint32_t htype = 0;
  const auto state = std::find(kStates.begin(), kStates.end(), fields[2]);
  if (!number(0, &record.address.value) || !number(1, &record.subnet.value) ||
      state == kStates.end() || !number(3, &record.version) || !number(4, &record.starts_wall_s) ||
      !number(5, &record.expires_wall_s) || !number(7, &htype) || htype > 255) {
    return std::nullopt;
  }
  record.state = static_cast<LeaseState>(state - kStates.begin());
  record.htype = static_cast<std::uint8_t>(htype);
  if (fields[6] == "f") record.expires_wall_s = kNeverExpires;
  if (!ReadHex(fields[8], record.chaddr, record.hlen) ||
      !ReadHex(fields[9], record.client_id, record.client_id_length) ||
      !ReadHex(fields[10], record.host_name, record.host_name_length) ||
      !ReadHex(fields[11], record.relay_information, record.relay_information_length)) {
    return std::nullopt;
  }
  return record;
}

}  // namespace ringdhcp
