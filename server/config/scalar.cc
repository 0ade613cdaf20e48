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
  std::uint64_t milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {
    {"ms", 1},
    {"s", 1000},
    {"sec", 1000},
    {"seconds", 1000},
    {"m", 60000},
    {"min", 60000},
    {"minutes", 60000},
    {"h", 3600000},
    {"hours", 3600000},
    {"d", 86400000},
    {"days", 86400000},
    {"w", 604800000},
    {"weeks", 604800000},
};

// "1h" -> "3600" as seconds. Empty if `text` is no whole number of `unit`s.
std::string WithoutUnit(std::string_view text, NumberUnit unit) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (unit == NumberUnit::kNone || digits == 0 || digits > 9) return "";
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + digits, number);
  std::string_view name = text.substr(digits);
  while (name.starts_with(' ')) name.remove_prefix(1);
  const std::uint64_t divisor = unit == NumberUnit::kSeconds ? 1000 : 1;
  for (const TimeUnit& known : kTimeUnits) {
    const std::uint64_t total = number * known.milliseconds;
    if (known.name == name && total % divisor == 0) return std::to_string(total / divisor);
  }
  return "";
}

ValueError NotANumber(std::string_view text, const char* expected, NumberUnit unit) {
  ValueError error{"expected " + std::string(expected) + ", found " + Quote(text), ""};
  constexpr std::array<std::string_view, 4> kEndless = {"infinite", "infinity", "forever", "never"};
  if (unit == NumberUnit::kSeconds && std::ranges::find(kEndless, text) != kEndless.end()) {
    error.suggestion = "4294967295 is a time without end";
  }
  const std::string plain = WithoutUnit(text, unit);
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

std::optional<ValueError> ReadUint32(const YamlNode& scalar, NumberUnit unit,
                                     std::uint32_t* value) {
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
    ValueError error = NotANumber(text, "a whole number", unit);
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
    ValueError error = NotANumber(text, "a number", NumberUnit::kNone);
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
