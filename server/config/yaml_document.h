#ifndef RINGDHCP_SERVER_CONFIG_YAML_DOCUMENT_H_
#define RINGDHCP_SERVER_CONFIG_YAML_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/report.h"

namespace ringdhcp {

/// One value of a YAML document.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };
  Kind kind = Kind::kNull;
  /// A scalar in quotes or with an explicit tag: text, even if it looks like a number.
  bool quoted = false;
  /// Where it begins; not reliable for kNull, whose key or item says more.
  FilePosition at;
  std::string text;  // kScalar
  /// kSequence: the items. kMap: key, value, key, value; a key may occur twice. An alias is the
  /// node that it names, so nodes may be shared and may even contain themselves.
  std::vector<const YamlNode*> children;
};

/// The nodes of one YAML text. A tree of our own, because YAML::Node has no place for marks of
/// keys that occur twice and no bound on its size.
class YamlDocument {
 public:
  static constexpr std::size_t kTextBytesMax = std::size_t{64} << 20;
  static constexpr std::size_t kNodesMax = std::size_t{1} << 22;

  /// Parses `text`. On bad syntax reports one error and returns false. Never throws.
  bool Parse(std::string_view text, Report& report);
  /// Null for an empty document.
  const YamlNode* root() const { return root_; }
  /// Nodes in the document; an alias counts nothing.
  std::size_t node_count() const { return nodes_.size(); }

 private:
  friend class YamlBuilder;
  std::deque<YamlNode> nodes_;  // stable addresses; destroyed without recursion
  const YamlNode* root_ = nullptr;
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_CONFIG_YAML_DOCUMENT_H_
