#ifndef RINGDHCP_SERVER_CONFIG_FIELD_MAP_H_
#define RINGDHCP_SERVER_CONFIG_FIELD_MAP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "server/config/report.h"
#include "server/config/yaml_document.h"

namespace google::protobuf {
class Message;
}

namespace ringdhcp {

/// Where the fields of a configuration stand in their file, by path ("subnets[1].pools[0]").
class FieldPlaces {
 public:
  /// Notes a field. A bad one has a value that could not be read: it is reported already, and the
  /// message holds a default instead.
  void Add(const std::string& path, FilePosition at, bool bad = false) {
    places_[path] = {at, bad};
  }
  /// Is the field written in the file, be it well or badly? An empty list counts.
  bool Has(const std::string& path) const { return places_.contains(path); }
  bool IsBad(const std::string& path) const {
    const auto found = places_.find(path);
    return found != places_.end() && found->second.bad;
  }
  /// Position of the field, or of the nearest enclosing one that is there.
  FilePosition At(std::string_view path) const;

 private:
  struct Place {
    FilePosition at;
    bool bad = false;
  };
  std::unordered_map<std::string, Place> places_;
};

/// Copies the root of `document`, a map, into `message`, key by field name, and notes where each
/// field stands. Reports every unknown or repeated key and every value of a wrong type; a repeated
/// field keeps an empty element in place of a bad one, so that indexes agree with the file. A lone
/// scalar is a list of one for a repeated string. Visits at most as many values as `document` has
/// nodes, and kAliasedValuesMax more by way of aliases.
void MapYamlToMessage(const YamlDocument& document, google::protobuf::Message* message,
                      FieldPlaces& places, Report& report);

/// Enough for 25,000 subnets that share a block of ten values.
inline constexpr std::size_t kAliasedValuesMax = 250000;

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_FIELD_MAP_H_
