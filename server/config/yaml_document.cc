#include "server/config/yaml_document.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>
#include <unordered_map>

#include "server/config/suggest.h"

namespace ringdhcp {

namespace {

FilePosition ToPosition(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

// What usually lies behind a message of yaml-cpp.
struct SyntaxHint {
  std::string_view message_part;
  const char* hint;
};
constexpr SyntaxHint kSyntaxHints[] = {
    {"alias not found after *", "write a pattern in quotes: \"*\""},
    {"found while scanning alias", "write a pattern in quotes: \"*\""},
    {"anchor is not defined", "write a pattern in quotes: \"*\""},
    {"unknown token", "a value that begins with this character needs quotes"},
    {"end of sequence flow not found", "is a ']' missing?"},
    {"end of map flow not found", "is a '}' missing?"},
    {"illegal map value", "check the indentation; a value with ': ' in it needs quotes"},
    {"end of map not found", "check the indentation of this line"},
    {"end of sequence not found", "check the indentation of this line"},
    {"illegal EOF in scalar", "is a closing quote missing after this?"},
};

// Is there a tab before the first other character of the line?
bool IsIndentedWithTab(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find_first_not_of(" \t"));
  return text.find('\t') != std::string_view::npos;
}

std::string HintFor(const std::string& message, std::string_view text, FilePosition at) {
  if (IsIndentedWithTab(text, at.line)) return "indent with spaces, not with tabs";
  for (const SyntaxHint& entry : kSyntaxHints) {
    if (message.find(entry.message_part) != std::string::npos) return entry.hint;
  }
  return "";
}

// YAML allows no control characters but these; yaml-cpp silently ends the document at 0x04 and
// guesses UTF-16 and UTF-32 from zero bytes.
bool IsForbidden(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t';
}

bool CheckCharacters(std::string_view text, Report& report) {
  FilePosition at{1, 1};
  for (const char c : text) {
    if (IsForbidden(c)) {
      report.Error(
          at, "",
          "control character " + std::to_string(static_cast<int>(c)) + " is not allowed in YAML",
          "save the file as plain UTF-8 text");
      return false;
    }
    at.column = c == '\n' ? 1 : at.column + 1;
    at.line += c == '\n' ? 1 : 0;
  }
  return true;
}

}  // namespace

// Builds the nodes from yaml-cpp's events. yaml-cpp itself bounds the nesting (500 levels).
class YamlBuilder : public YAML::EventHandler {
 public:
  explicit YamlBuilder(YamlDocument& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      throw YAML::ParserException(mark,
                                  "a configuration is one YAML document; a second one begins");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Append(New(YamlNode::Kind::kNull, mark, anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "unknown alias");
    Append(found->second);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode* node = New(YamlNode::Kind::kScalar, mark, anchor);
    node->quoted = tag != "?" && !tag.empty();
    node->text = value;
    Append(node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(New(YamlNode::Kind::kSequence, mark, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(New(YamlNode::Kind::kMap, mark, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

  // Where the mistake is. For a bracket or a quote that isn't closed yaml-cpp gives a place near
  // the end of the text; the bracket itself, or the last good value before the quote, says more.
  FilePosition ErrorPosition(const YAML::Exception& error) const {
    if (!open_.empty() && error.msg.find("flow not found") != std::string::npos) {
      return open_.back()->at;
    }
    if (error.msg.find("illegal EOF in scalar") != std::string::npos && last_.line != 0) {
      return last_;
    }
    return ToPosition(error.mark);
  }

 private:
  YamlNode* New(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (document_.nodes_.size() >= YamlDocument::kNodesMax) {
      throw YAML::ParserException(
          mark, "more than " + std::to_string(YamlDocument::kNodesMax) + " values");
    }
    YamlNode& node = document_.nodes_.emplace_back();
    node.kind = kind;
    node.at = ToPosition(mark);
    last_ = node.at;
    if (anchor != 0) anchors_[anchor] = &node;
    return &node;
  }
  void Append(const YamlNode* node) {
    if (open_.empty()) {
      document_.root_ = node;
    } else {
      open_.back()->children.push_back(node);
    }
  }
  void Open(YamlNode* node) {
    Append(node);
    open_.push_back(node);
  }

  YamlDocument& document_;
  std::vector<YamlNode*> open_;
  FilePosition last_;  // of the latest node
  std::unordered_map<YAML::anchor_t, const YamlNode*> anchors_;
  int documents_ = 0;
};

bool YamlDocument::Parse(std::string_view text, Report& report) {
  if (text.size() > kTextBytesMax) {
    report.Error({}, "", "larger than " + std::to_string(kTextBytesMax >> 20) + " MiB");
    return false;
  }
  if (!CheckCharacters(text, report)) return false;
  YamlBuilder builder(*this);
  try {
    // yaml-cpp takes the end of the text for a closing quote if a line end comes before it.
    std::istringstream stream{std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1))};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return true;
  } catch (const YAML::DeepRecursion& deep) {
    report.Error(builder.ErrorPosition(deep), "", "too deeply nested");
  } catch (const YAML::Exception& bad) {
    const FilePosition at = builder.ErrorPosition(bad);
    report.Error(at, "", "not valid YAML: " + Printable(bad.msg, 200), HintFor(bad.msg, text, at));
  } catch (const std::exception& other) {  // std::bad_alloc
    report.Error({}, "", std::string("can't be parsed: ") + other.what());
  }
  return false;
}

}  // namespace ringdhcp
