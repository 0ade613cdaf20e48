#include "server/config/field_map.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "server/config/scalar.h"
#include "server/config/suggest.h"

namespace ringdhcp {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

FilePosition FieldPlaces::At(std::string_view path) const {
  while (!path.empty()) {
    const auto found = places_.find(std::string(path));
    if (found != places_.end()) return found->second.at;
    const std::size_t cut = path.find_last_of(".[");
    path = path.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
  return {};
}

namespace {

// Words of other servers' configurations, and what they are called here.
struct Synonym {
  std::string_view word, field;
};
constexpr Synonym kSynonyms[] = {
    {"gateway", "routers"},
    {"dns", "domain_name_servers"},
    {"dns_servers", "domain_name_servers"},
    {"nameservers", "domain_name_servers"},
    {"domain", "domain_name"},
    {"ntp", "ntp_servers"},
    {"range", "pools"},
    {"ranges", "pools"},
    {"network", "prefix"},
    {"subnet", "prefix"},
    {"cidr", "prefix"},
    {"lease_time", "lease_times"},
    {"subnet4", "subnets"},
    {"networks", "subnets"},
    {"logging", "log"},
    {"path", "directory"},
    {"minimum", "min"},
    {"maximum", "max"},
};

const char* KindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a single value";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      break;
  }
  return "a map";
}

std::string DidYouMean(const std::string& text) { return "did you mean '" + text + "'?"; }

std::vector<std::string_view> FieldNames(const Descriptor& type) {
  std::vector<std::string_view> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return names;
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

// The field of `type` that `key` most likely stands for; empty if none.
std::string MisspelledField(const std::string& key, const Descriptor& type) {
  const std::string_view closest = Closest(key, FieldNames(type));
  if (!closest.empty()) return std::string(closest);
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.word == key && type.FindFieldByName(std::string(synonym.field)) != nullptr) {
      return std::string(synonym.field);
    }
  }
  return "";
}

// For a key that is no misspelling of a field of `type`: is it a field one level below, as in
// "routers" or "log_level", or of the whole configuration, `root`?
std::string SuggestElsewhere(const std::string& key, const Descriptor& type,
                             const Descriptor& root) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.message_type() == nullptr) continue;
    const bool joined = key.starts_with(field.name() + '_');
    const std::string below = joined ? key.substr(field.name().size() + 1) : key;
    if (field.message_type()->FindFieldByName(below) != nullptr) {
      return DidYouMean(field.name() + (field.is_repeated() ? "[]." : ".") + below);
    }
  }
  if (&type != &root && root.FindFieldByName(key) != nullptr) {
    return "'" + key + "' belongs to the top level";
  }
  return SuggestOneOf(key, FieldNames(type));
}

// Numbers are seconds unless their name says otherwise.
NumberUnit UnitOf(const FieldDescriptor& field) {
  const std::string_view name = field.name();
  if (name == "id") return NumberUnit::kNone;
  return name.ends_with("_ms") ? NumberUnit::kMilliseconds : NumberUnit::kSeconds;
}

constexpr std::size_t kVisitedBytesMax = 2 * YamlDocument::kTextBytesMax;

class Mapper {
 public:
  Mapper(std::size_t visits_max, FieldPlaces& places, Report& report)
      : visits_max_(visits_max), places_(places), report_(report) {}

  void MapMessage(const YamlNode& node, Message* message, const std::string& path) {
    if (node.kind == YamlNode::Kind::kNull) return;  // "options:" with nothing below it
    if (node.kind != YamlNode::Kind::kMap) {
      Bad(path, node.at, "expected a map of fields, found " + std::string(KindName(node)),
          "the fields are: " + Joined(FieldNames(*message->GetDescriptor())));
      return;
    }
    const Descriptor& type = *message->GetDescriptor();
    if (root_ == nullptr) root_ = &type;
    std::vector<FilePosition> seen(static_cast<std::size_t>(type.field_count()));
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      if (!Spend(key)) return;
      if (key.kind != YamlNode::Kind::kScalar) {
        report_.Error(key.at, path,
                      "expected the name of a field, found " + std::string(KindName(key)));
        continue;
      }
      const std::string name = Printable(key.text);
      const std::string field_path = path.empty() ? name : path + '.' + name;
      const FieldDescriptor* field = type.FindFieldByName(key.text);
      if (field == nullptr) {
        ReportUnknown(key, type, path, field_path);
        continue;
      }
      FilePosition& first = seen[static_cast<std::size_t>(field->index())];
      if (first.line != 0) {
        report_.Error(key.at, field_path,
                      "written twice; the first is in line " + std::to_string(first.line),
                      "delete one of them");
        continue;
      }
      first = key.at;
      MapField(key.at, *node.children[i + 1], message, *field, field_path);
    }
  }

 private:
  // `parent` is the path of the map that the key is in, `path` that of the key.
  void ReportUnknown(const YamlNode& key, const Descriptor& type, const std::string& parent,
                     const std::string& path) {
    if (key.text == "<<") {
      report_.Error(key.at, path, "merge keys are not supported", "write the fields out");
      return;
    }
    if (report_.ErrorsFull()) {
      report_.Error(key.at, path, "unknown field");
      return;
    }
    const std::string meant = MisspelledField(key.text, type);
    report_.Error(key.at, path, "unknown field",
                  meant.empty() ? SuggestElsewhere(key.text, type, *root_) : DidYouMean(meant));
    // One mistake, one error: the field that is meant isn't missing as well.
    const std::string meant_path = parent.empty() ? meant : parent + '.' + meant;
    if (!meant.empty() && !places_.Has(meant_path)) places_.Add(meant_path, key.at, /*bad=*/true);
  }

  void MapField(FilePosition key_at, const YamlNode& node, Message* message,
                const FieldDescriptor& field, const std::string& path) {
    const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (node.kind == YamlNode::Kind::kNull) {
      if (!is_message && !field.is_repeated()) {
        Bad(path, key_at, "has no value", "write one, or delete the line");
      }
      return;
    }
    if (field.is_repeated()) {
      MapRepeated(node, message, field, path);
    } else if (is_message) {
      if (!Note(path, node, node.at)) return;
      MapMessage(node, message->GetReflection()->MutableMessage(message, &field), path);
    } else {
      MapScalar(node, message, field, path);
    }
  }

  void MapRepeated(const YamlNode& node, Message* message, const FieldDescriptor& field,
                   const std::string& path) {
    const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!Note(path, node, node.at)) return;
    if (node.kind == YamlNode::Kind::kScalar && !is_message) {
      MapElement(node, node.at, message, field, path + "[0]");
      return;
    }
    if (node.kind != YamlNode::Kind::kSequence) {
      Bad(path, node.at, "expected a list, found " + std::string(KindName(node)),
          "begin each item with '- '");
      return;
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const YamlNode& item = *node.children[i];
      // yaml-cpp gives an absent item the position of whatever follows it.
      const FilePosition at = item.kind == YamlNode::Kind::kNull ? node.at : item.at;
      MapElement(item, at, message, field, path + '[' + std::to_string(i) + ']');
      if (exhausted_) return;
    }
  }

  void MapElement(const YamlNode& node, FilePosition at, Message* message,
                  const FieldDescriptor& field, const std::string& path) {
    if (!Note(path, node, at)) return;
    const Reflection& reflection = *message->GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Message* element = reflection.AddMessage(message, &field);
      if (node.kind == YamlNode::Kind::kNull) {
        Bad(path, at, "an item of this list is empty", "delete its '-'");
      } else {
        MapMessage(node, element, path);
      }
    } else if (node.kind == YamlNode::Kind::kScalar) {
      reflection.AddString(message, &field, node.text);
    } else {
      reflection.AddString(message, &field, "");
      Bad(path, at, "expected a single value, found " + std::string(KindName(node)));
    }
  }

  void MapScalar(const YamlNode& node, Message* message, const FieldDescriptor& field,
                 const std::string& path) {
    if (!Note(path, node, node.at)) return;
    if (node.kind != YamlNode::Kind::kScalar) {
      const bool list_of_one = node.kind == YamlNode::Kind::kSequence &&
                               node.children.size() == 1 &&
                               node.children[0]->kind == YamlNode::Kind::kScalar;
      Bad(path, node.at, "expected a single value, found " + std::string(KindName(node)),
          list_of_one ? "did you mean " + Quote(node.children[0]->text) + "?" : "");
      return;
    }
    const Reflection& reflection = *message->GetReflection();
    std::optional<ValueError> error;
    std::uint32_t number = 0;
    double fraction = 0;
    bool flag = false;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        reflection.SetString(message, &field, node.text);
        break;
      case FieldDescriptor::CPPTYPE_UINT32:
        error = ReadUint32(node, UnitOf(field), &number);
        if (!error) reflection.SetUInt32(message, &field, number);
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        error = ReadDouble(node, &fraction);
        if (!error) reflection.SetDouble(message, &field, fraction);
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        error = ReadBool(node, &flag);
        if (!error) reflection.SetBool(message, &field, flag);
        break;
      default:
        error = ValueError{"has a type that the loader doesn't know", ""};
    }
    if (error) Bad(path, node.at, error->message, error->suggestion);
  }

  // Pays for one visit of a node; false when the file asks for too much. Without aliases the size
  // of the document is the bound already.
  bool Spend(const YamlNode& node) {
    if (exhausted_) return false;
    visited_bytes_ += node.text.size();
    if (++visited_ > visits_max_ || visited_bytes_ > kVisitedBytesMax) {
      exhausted_ = true;
      report_.Error(node.at, "", "too many values", "are too many aliases ('*name') in use?");
    }
    return !exhausted_;
  }

  bool Note(const std::string& path, const YamlNode& node, FilePosition at) {
    if (!Spend(node)) return false;
    places_.Add(path, at);
    return true;
  }

  void Bad(const std::string& path, FilePosition at, std::string message,
           std::string suggestion = "") {
    places_.Add(path, at, /*bad=*/true);
    report_.Error(at, path, std::move(message), std::move(suggestion));
  }

  const std::size_t visits_max_;
  FieldPlaces& places_;
  Report& report_;
  const Descriptor* root_ = nullptr;  // of the message that the mapping began with
  std::size_t visited_ = 0;
  std::size_t visited_bytes_ = 0;
  bool exhausted_ = false;
};

}  // namespace

void MapYamlToMessage(const YamlDocument& document, Message* message, FieldPlaces& places,
                      Report& report) {
  if (document.root() == nullptr) return;
  Mapper(document.node_count() + kAliasedValuesMax, places, report)
      .MapMessage(*document.root(), message, "");
}

}  // namespace ringdhcp
