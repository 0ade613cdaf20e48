// Options and server identifier, which exist server-wide and per subnet, and the range check.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "server/config/network_values.h"
#include "server/config/validate.h"

namespace ringdhcp {

namespace {

constexpr std::uint8_t kOptionRouters = 3;            // RFC 2132 section 3.5
constexpr std::uint8_t kOptionDomainNameServers = 6;  // RFC 2132 section 3.8
constexpr std::uint8_t kOptionDomainName = 15;        // RFC 2132 section 3.17
constexpr std::uint8_t kOptionNtpServers = 42;        // RFC 2132 section 8.3
// More would not fit one instance of an option, and many clients don't join two (RFC 3396).
constexpr int kAddressesMax = 255 / 4;

using RepeatedString = google::protobuf::RepeatedPtrField<std::string>;

// Collects the options of one block over the inherited ones.
class OptionsBuilder {
 public:
  OptionsBuilder(const std::string& path, const OptionBlock& inherited, const FieldPlaces& places,
                 Report& report)
      : path_(path), places_(places), report_(report), block_(inherited) {}

  /// Replaces a list of addresses if it is written here; `kind` is routers or servers.
  void Addresses(std::uint8_t code, const char* name, const RepeatedString& texts,
                 std::vector<PlacedAddress> OptionBlock::*kind) {
    const std::string list_path = path_ + '.' + name;
    if (!places_.Has(list_path)) return;
    ForgetInherited(list_path.substr(list_path.find_last_of('.')), kind);
    if (texts.size() > kAddressesMax) {
      report_.Error(places_.At(list_path), list_path,
                    "has " + std::to_string(texts.size()) + " addresses, more than " +
                        std::to_string(kAddressesMax),
                    "an option holds 255 octets; keep the most important ones");
    }
    std::vector<std::uint8_t> value;
    for (int i = 0; i < std::min(texts.size(), kAddressesMax); ++i) {
      const std::string path = list_path + '[' + std::to_string(i) + ']';
      if (places_.IsBad(path)) continue;
      Ipv4Address address;
      if (auto error = ReadHostAddress(texts[i], &address)) {
        report_.Error(places_.At(path), path, error->message, error->suggestion);
        continue;
      }
      if (Holds(value, address)) {
        report_.Warning(places_.At(path), path, address.ToString() + " is listed twice",
                        "delete one of them");
      }
      for (const int shift : {24, 16, 8, 0}) {
        value.push_back(static_cast<std::uint8_t>(address.value >> shift));
      }
      (block_.*kind).push_back({address, path});
    }
    Set(code, std::move(value));
  }

  void DomainName(bool present, const std::string& text) {
    const std::string path = path_ + ".domain_name";
    if (!present || places_.IsBad(path)) return;
    if (auto error = CheckDomainName(text)) {
      report_.Error(places_.At(path), path, error->message, error->suggestion);
      return;
    }
    Set(kOptionDomainName, std::vector<std::uint8_t>(text.begin(), text.end()));
  }

  OptionBlock Take() { return std::move(block_); }

 private:
  static bool Holds(const std::vector<std::uint8_t>& value, Ipv4Address address) {
    for (std::size_t i = 0; i + 3 < value.size(); i += 4) {
      const std::uint32_t other = std::uint32_t{value[i]} << 24 |
                                  std::uint32_t{value[i + 1]} << 16 |
                                  std::uint32_t{value[i + 2]} << 8 | value[i + 3];
      if (other == address.value) return true;
    }
    return false;
  }

  // `suffix` is ".routers" or the like: servers has the addresses of two options.
  void ForgetInherited(const std::string& suffix, std::vector<PlacedAddress> OptionBlock::*kind) {
    std::erase_if(block_.*kind, [&suffix](const PlacedAddress& placed) {
      return placed.path.find(suffix + '[') != std::string::npos;
    });
  }

  // An empty value means that the option is not sent.
  void Set(std::uint8_t code, std::vector<std::uint8_t> value) {
    std::vector<ConfiguredOption>& options = block_.options;
    std::erase_if(options, [code](const ConfiguredOption& option) { return option.code == code; });
    if (value.empty()) return;
    const auto place =
        std::find_if(options.begin(), options.end(),
                     [code](const ConfiguredOption& option) { return option.code > code; });
    options.insert(place, {code, std::move(value)});
  }

  const std::string& path_;
  const FieldPlaces& places_;
  Report& report_;
  OptionBlock block_;
};

}  // namespace

OptionBlock BuildOptions(const config::Options& block, const std::string& path,
                         const OptionBlock& inherited, const FieldPlaces& places, Report& report) {
  OptionsBuilder builder(path, inherited, places, report);
  builder.Addresses(kOptionRouters, "routers", block.routers(), &OptionBlock::routers);
  builder.Addresses(kOptionDomainNameServers, "domain_name_servers", block.domain_name_servers(),
                    &OptionBlock::servers);
  builder.DomainName(block.has_domain_name(), block.domain_name());
  builder.Addresses(kOptionNtpServers, "ntp_servers", block.ntp_servers(), &OptionBlock::servers);
  return builder.Take();
}

bool CheckRange(std::uint32_t value, std::uint32_t min, std::uint32_t max, const char* unit,
                const std::string& path, const FieldPlaces& places, Report& report) {
  if (min <= value && value <= max) return true;
  report.Error(places.At(path), path,
               "must be " + std::to_string(min) + '-' + std::to_string(max) + unit + ", not " +
                   std::to_string(value),
               "did you mean " + std::to_string(std::clamp(value, min, max)) + '?');
  return false;
}

std::optional<Ipv4Address> BuildServerIdentifier(bool present, const std::string& text,
                                                 const std::string& path, const FieldPlaces& places,
                                                 Report& report) {
  if (!present || places.IsBad(path)) return std::nullopt;
  Ipv4Address address;
  if (auto error = ReadHostAddress(text, &address)) {
    report.Error(places.At(path), path, error->message, error->suggestion);
    return std::nullopt;
  }
  return address;
}

}  // namespace ringdhcp
