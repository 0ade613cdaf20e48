#include "server/config/network_values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <vector>

#include "server/config/suggest.h"

namespace ringdhcp {

namespace {

constexpr int kPrefixLengthMin = 8;
constexpr int kPrefixLengthMax = 30;
constexpr std::size_t kDomainNameMax = 253;
constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kInterfaceNameMax = 15;  // IFNAMSIZ - 1

std::string DidYouMean(const std::string& text) { return "did you mean " + text + "?"; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint32_t> ParseDecimal(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// "192.000.02.1" without the zeros, which some read as octal.
std::string WithoutLeadingZeros(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit_follows = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (at_start && text[i] == '0' && digit_follows) continue;
    at_start = text[i] == '.';
    result += text[i];
  }
  return result;
}

std::string SuggestAddress(const std::string& text) {
  if (text.size() > 256) return "";
  if (text.find(',') != std::string::npos) return "write a list: [first, second]";
  const std::string trimmed(Trim(text.substr(0, text.find('/'))));
  if (trimmed != text && Ipv4Address::Parse(trimmed)) return DidYouMean(trimmed);
  const std::string clean = WithoutLeadingZeros(trimmed);
  if (clean != text && Ipv4Address::Parse(clean)) return DidYouMean(clean);
  return "";
}

// The length of a netmask such as 255.255.255.0.
std::optional<int> LengthOfMask(std::string_view text) {
  const auto mask = Ipv4Address::Parse(text);
  if (!mask) return std::nullopt;
  const int length = std::popcount(mask->value);
  if (Ipv4Prefix{Ipv4Address(), static_cast<std::uint8_t>(length)}.Mask() != mask->value) {
    return std::nullopt;
  }
  return length;
}

Ipv4Prefix NetworkOf(Ipv4Address address, int length) {
  Ipv4Prefix prefix{address, static_cast<std::uint8_t>(length)};
  prefix.address = Ipv4Address(address.value & prefix.Mask());
  return prefix;
}

Pool UsableRange(const Ipv4Prefix& prefix) {
  return {Ipv4Address(prefix.address.value + 1), Ipv4Address(prefix.Broadcast().value - 1)};
}

// "192.0.2.5-20" or "192.0.2.0/25" written out.
std::string SuggestPool(std::string_view first, std::string_view last) {
  const std::size_t slash = first.find('/');
  if (slash != std::string_view::npos && last.empty()) {
    const auto address = Ipv4Address::Parse(first.substr(0, slash));
    const auto length = ParseDecimal(first.substr(slash + 1));
    if (address && length && *length >= 1 && *length <= 30) {
      const Ipv4Prefix block = NetworkOf(*address, static_cast<int>(*length));
      return DidYouMean(PoolToString(UsableRange(block)));
    }
  }
  const auto from = Ipv4Address::Parse(first);
  const auto host = ParseDecimal(last);
  if (from && host && *host <= 255 && *host >= (from->value & 255U)) {
    return DidYouMean(PoolToString({*from, Ipv4Address((from->value & ~255U) | *host)}));
  }
  return "write first-last, for example 192.0.2.10-192.0.2.99";
}

std::optional<ValueError> CheckLabel(std::string_view label, const std::string& name) {
  if (label.empty()) return ValueError{"has an empty label: " + Quote(name), ""};
  if (label.size() > kLabelMax) return ValueError{"has a label of more than 63 characters", ""};
  if (label.front() == '-' || label.back() == '-') {
    return ValueError{"a label must not begin or end with '-': " + Quote(name), ""};
  }
  for (const char c : label) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
    if (good) continue;
    const bool list = c == ' ' || c == ',';
    return ValueError{Quote(name) + " is not a domain name: " + Quote({&c, 1}) + " is not allowed",
                      list ? "one name only; a search list is another option" : ""};
  }
  return std::nullopt;
}

}  // namespace

std::string PoolToString(const Pool& pool) {
  if (pool.first == pool.last) return pool.first.ToString();
  return pool.first.ToString() + '-' + pool.last.ToString();
}

std::optional<ValueError> ReadAddress(const std::string& text, Ipv4Address* address) {
  const auto parsed = Ipv4Address::Parse(text);
  if (!parsed) return ValueError{Quote(text) + " is not an IPv4 address", SuggestAddress(text)};
  *address = *parsed;
  return std::nullopt;
}

std::optional<ValueError> ReadHostAddress(const std::string& text, Ipv4Address* address) {
  Ipv4Address parsed;
  if (auto error = ReadAddress(text, &parsed)) return error;
  if (!parsed.IsUnicastHost()) return ValueError{text + " can't be the address of a host", ""};
  *address = parsed;
  return std::nullopt;
}

std::optional<ValueError> ReadSubnetPrefix(const std::string& text, Ipv4Prefix* prefix) {
  const std::size_t slash = text.find('/');
  const std::string address_text = text.substr(0, slash);
  Ipv4Address address;
  if (auto error = ReadAddress(address_text, &address)) {
    return ValueError{Quote(text) + " is not a network",
                      error->suggestion.empty() ? "write address/length, for example 192.0.2.0/24"
                                                : error->suggestion};
  }
  if (slash == std::string::npos) {
    return ValueError{Quote(text) + " has no length",
                      "write address/length, for example " + NetworkOf(address, 24).ToString()};
  }
  const std::string length_text = text.substr(slash + 1);
  const auto length = ParseDecimal(length_text);
  if (!length) {
    const auto mask_length = LengthOfMask(length_text);
    return ValueError{Quote(text) + " has no length after the '/'",
                      mask_length ? DidYouMean(NetworkOf(address, *mask_length).ToString()) : ""};
  }
  if (*length < kPrefixLengthMin || *length > kPrefixLengthMax) {
    const int nearest = *length < kPrefixLengthMin ? kPrefixLengthMin : kPrefixLengthMax;
    return ValueError{"the length must be 8-30, not " + Quote(length_text),
                      DidYouMean(NetworkOf(address, nearest).ToString())};
  }
  const Ipv4Prefix network = NetworkOf(address, static_cast<int>(*length));
  if (network.address != address) {
    return ValueError{text + " has host bits set", DidYouMean(network.ToString())};
  }
  if (network.ToString() != text) {
    return ValueError{Quote(text) + " is not a network", DidYouMean(network.ToString())};
  }
  if (!network.address.IsUnicastHost()) {
    return ValueError{text + " holds no addresses that hosts can have", ""};
  }
  *prefix = network;
  return std::nullopt;
}

std::optional<ValueError> ReadPool(const std::string& text, Pool* pool) {
  const std::size_t dash = text.find('-');
  const std::string_view view(text);
  const std::string_view first_text = Trim(view.substr(0, dash));
  const std::string_view last_text =
      dash == std::string::npos ? std::string_view() : Trim(view.substr(dash + 1));
  const auto first = Ipv4Address::Parse(first_text);
  const auto last = dash == std::string::npos ? first : Ipv4Address::Parse(last_text);
  if (!first || !last) {
    return ValueError{Quote(text) + " is not an address range", SuggestPool(first_text, last_text)};
  }
  if (*last < *first) {
    return ValueError{"the first address is above the last",
                      DidYouMean(PoolToString({*last, *first}))};
  }
  *pool = {*first, *last};
  return std::nullopt;
}

std::optional<ValueError> CheckPoolInPrefix(const Pool& pool, const Ipv4Prefix& prefix) {
  const Pool usable = UsableRange(prefix);
  if (usable.Contains(pool.first) && usable.Contains(pool.last)) return std::nullopt;
  const Pool trimmed{std::max(pool.first, usable.first), std::min(pool.last, usable.last)};
  const bool some_left = trimmed.first <= trimmed.last;
  const std::string suggestion =
      some_left ? DidYouMean(PoolToString(trimmed)) : "usable: " + PoolToString(usable);
  if (!prefix.Contains(pool.first) || !prefix.Contains(pool.last)) {
    return ValueError{PoolToString(pool) + " is not inside " + prefix.ToString(), suggestion};
  }
  const bool network = pool.first == prefix.address;
  const bool broadcast = pool.last == prefix.Broadcast();
  const std::string which = network && broadcast
                                ? "the network address " + prefix.address.ToString() +
                                      " and the broadcast address " + prefix.Broadcast().ToString()
                            : network ? "the network address " + prefix.address.ToString()
                                      : "the broadcast address " + prefix.Broadcast().ToString();
  return ValueError{"holds " + which, suggestion};
}

std::optional<ValueError> CheckDomainName(const std::string& text) {
  if (text.empty()) return ValueError{"must not be empty", "delete the line"};
  std::string_view rest(text);
  if (rest.ends_with('.')) rest.remove_suffix(1);
  if (rest.size() > kDomainNameMax) {
    return ValueError{"is longer than 253 characters: " + Quote(text), ""};
  }
  while (true) {
    const std::size_t dot = rest.find('.');
    if (auto error = CheckLabel(rest.substr(0, dot), text)) return error;
    if (dot == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(dot + 1);
  }
}

std::optional<ValueError> CheckInterfaceName(const std::string& text, bool pattern) {
  if (text.empty()) return ValueError{"must not be empty", "delete it"};
  if (text.find(',') != std::string::npos) {
    return ValueError{Quote(text) + " can't be the name of an interface",
                      "write a list: [first, second]"};
  }
  const bool bad_character =
      std::any_of(text.begin(), text.end(), [](char c) { return c == '/' || c <= ' '; });
  if (bad_character || text == "." || text == "..") {
    return ValueError{Quote(text) + " can't be the name of an interface", ""};
  }
  const auto stars = static_cast<std::size_t>(std::count(text.begin(), text.end(), '*'));
  if (stars > 0 && !pattern) {
    return ValueError{"one interface, not a pattern: " + Quote(text), ""};
  }
  if (text.size() - stars > kInterfaceNameMax) {
    return ValueError{"longer than the 15 characters of an interface's name: " + Quote(text), ""};
  }
  return std::nullopt;
}

std::optional<ValueError> ReadListen(const std::string& text, std::string* host,
                                     std::uint16_t* port) {
  if (text.empty()) {
    host->clear();
    return std::nullopt;
  }
  const std::size_t colon = text.rfind(':');
  const std::string host_text = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string port_text = colon == std::string::npos ? text : text.substr(colon + 1);
  const auto number = ParseDecimal(port_text);
  const bool port_good = number && *number >= 1 && *number <= 65535;
  const bool host_good = host_text == "localhost" || Ipv4Address::Parse(host_text);
  if (colon == std::string::npos) {
    return ValueError{"expected host:port, found " + Quote(text),
                      port_good                  ? DidYouMean("127.0.0.1:" + port_text)
                      : Ipv4Address::Parse(text) ? DidYouMean(text + ":9547")
                                                 : ""};
  }
  if (!host_good) {
    return ValueError{"the host must be an IPv4 address, not " + Quote(host_text),
                      host_text.empty() && port_good ? DidYouMean("0.0.0.0:" + port_text) : ""};
  }
  if (!port_good) return ValueError{"the port must be 1-65535, not " + Quote(port_text), ""};
  *host = host_text == "localhost" ? "127.0.0.1" : host_text;
  *port = static_cast<std::uint16_t>(*number);
  return std::nullopt;
}

}  // namespace ringdhcp
