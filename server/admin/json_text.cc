#include "server/admin/json_text.h"

namespace ringdhcp {

std::string JsonQuote(std::string_view octets) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : octets) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (octet >= 0x20 && octet < 0x7f) {
      text += c;
    } else {
      text += "\\u00";
      text += kHex[octet >> 4];
      text += kHex[octet & 15];
    }
  }
  text += '"';
  return text;
}

}  // namespace ringdhcp
