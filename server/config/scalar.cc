#include "server/config/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "server/config/suggest.h"

namespace ringdhcp {

namespace {

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct TimeUnit {
  std::string_view name;
  std::uint64_t seconds;
};
constexpr TimeUnit kTimeUnits[] = {
    {"s", 1},    {"sec", 1},      {"seconds", 1}, {"m", 60},       {"min", 60},   {"minutes", 60},
    {"h", 3600}, {"hours", 3600}, {"d", 86400},   {"days", 86400}, {"w", 604800}, {"weeks", 604800},
};

// "1h" -> "3600". Empty if `text` is no number with a unit of time.
std::string WithoutUnit(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > 9) return "";
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  std::string_view unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const TimeUnit& known : kTimeUnits) {
    if (known.name == unit) return std::to_string(number * known.seconds);
  }
  return "";
}

ValueError NotANumber(std::string_view text, const char* expected) {
  ValueError error{"expected " + std::string(expected) + ", found " + Quote(text), ""};
  const std::string plain = WithoutUnit(text);
  if (!plain.empty()) error.suggestion = "times have no unit; did you mean " + plain + "?";
  return error;
}

std::optional<double> ParseDouble(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

std::optional<ValueError> ReadUint32(const YamlNode& scalar, std::uint32_t* value) {
  const std::string& text = scalar.text;
  if (scalar.quoted) {
    ValueError error{"expected a whole number, found the text " + Quote(text), ""};
    if (AllDigits(text)) error.suggestion = "write it without quotes";
    return error;
  }
  if (text.starts_with('-') && ParseDouble(text)) {
    return ValueError{"must not be negative: " + Quote(text), ""};
  }
  if (!AllDigits(text)) {
    ValueError error = NotANumber(text, "a whole number");
    const auto number = ParseDouble(text);
    if (number && *number == std::floor(*number) && *number >= 0 && *number < 4294967296.0) {
      error.suggestion =
          "did you mean " + std::to_string(static_cast<std::uint32_t>(*number)) + "?";
    }
    return error;
  }
  if (text.size() > 1 && text[0] == '0') {
    const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
    return ValueError{"a number must not begin with 0: " + Quote(text),
                      "did you mean " + text.substr(first, 20) + "?"};
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error != std::errc()) {
    return ValueError{"too large: " + Quote(text), "at most 4294967295"};
  }
  return std::nullopt;
}

std::optional<ValueError> ReadDouble(const YamlNode& scalar, double* value) {
  const std::string& text = scalar.text;
  const auto number = ParseDouble(text);
  if (scalar.quoted) {
    return ValueError{"expected a number, found the text " + Quote(text),
                      number ? "write it without quotes" : ""};
  }
  if (!number) {
    ValueError error = NotANumber(text, "a number");
    if (text.ends_with('%')) error.suggestion = "write a fraction: 0.5 for 50%";
    return error;
  }
  if (*number < 0) return ValueError{"must not be negative: " + Quote(text), ""};
  *value = *number;
  return std::nullopt;
}

std::optional<ValueError> ReadBool(const YamlNode& scalar, bool* value) {
  constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
  constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
  const std::string& text = scalar.text;
  const bool is_true = std::ranges::find(kTrue, text) != kTrue.end();
  const bool is_false = std::ranges::find(kFalse, text) != kFalse.end();
  if ((is_true || is_false) && !scalar.quoted) {
    *value = is_true;
    return std::nullopt;
  }
  ValueError error{"expected true or false, found " + Quote(text), ""};
  if (is_true || is_false) {
    error.suggestion = "write it without quotes";
    return error;
  }
  std::string lower = text.substr(0, 8);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  constexpr std::array<std::string_view, 5> kYes = {"yes", "on", "y", "1", "enabled"};
  constexpr std::array<std::string_view, 5> kNo = {"no", "off", "n", "0", "disabled"};
  if (std::ranges::find(kYes, lower) != kYes.end()) error.suggestion = "did you mean true?";
  if (std::ranges::find(kNo, lower) != kNo.end()) error.suggestion = "did you mean false?";
  return error;
}

}  // namespace ringdhcp
