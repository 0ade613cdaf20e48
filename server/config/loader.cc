#include "server/config/loader.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>

#include "proto/config.pb.h"
#include "server/config/field_map.h"
#include "server/config/report.h"
#include "server/config/validate.h"
#include "server/config/yaml_document.h"

namespace ringdhcp {

namespace {

constexpr char kSmallest[] =
    "the least is: subnets: [{id: 1, prefix: 192.0.2.0/24, pools: [192.0.2.10-192.0.2.99]}]";

LoadResult OneError(const std::string& file_name, std::string message, std::string suggestion) {
  LoadResult result;
  result.diagnostics.push_back(
      {Severity::kError, file_name, 0, 0, "", std::move(message), std::move(suggestion)});
  return result;
}

LoadResult Load(std::string_view text, const std::string& file_name) {
  LoadResult result;
  Report report(file_name);
  YamlDocument document;
  if (document.Parse(text, report)) {
    if (document.root() == nullptr || document.root()->kind == YamlNode::Kind::kNull) {
      report.Error({}, "", "the configuration is empty", kSmallest);
    } else {
      config::Config file;
      FieldPlaces places;
      MapYamlToMessage(document, &file, places, report);
      // A root that isn't a map is reported; nothing in it can be checked.
      if (!places.IsBad("")) result.config = BuildServerConfig(file, places, report);
    }
  }
  result.diagnostics = report.Take();
  return result;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

LoadResult UnreadableFile(const std::string& path, int error) {
  // generic_category, because strerror is not made for threads.
  std::string suggestion;
  if (error == EACCES) suggestion = "the user that runs the server must be allowed to read it";
  if (error == EISDIR) suggestion = "name a file in this directory";
  return OneError(path, "can't be read: " + std::generic_category().message(error),
                  std::move(suggestion));
}

}  // namespace

std::string Diagnostic::ToString() const {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line) + ':' + std::to_string(column);
  text += severity == Severity::kError ? ": error: " : ": warning: ";
  if (!path.empty()) text += path + ": ";
  text += message;
  if (!suggestion.empty()) text += " (" + suggestion + ')';
  return text;
}

bool LoadResult::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError;
  });
}

LoadResult LoadConfigText(std::string_view text, const std::string& file_name) {
  try {
    return Load(text, file_name);
  } catch (const std::exception& out_of_memory) {
    return OneError(file_name, std::string("can't be loaded: ") + out_of_memory.what(), "");
  }
}

LoadResult LoadConfigFile(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return UnreadableFile(path, errno);
  std::string text;
  try {
    char buffer[16384];
    std::size_t count = 0;
    // One octet above the limit is enough for Parse to refuse it, even if the file has no end.
    while (text.size() <= YamlDocument::kTextBytesMax &&
           (count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0) {
      text.append(buffer, count);
    }
    if (std::ferror(file.get()) != 0) return UnreadableFile(path, errno);
  } catch (const std::exception& out_of_memory) {
    return OneError(path, std::string("can't be loaded: ") + out_of_memory.what(), "");
  }
  return LoadConfigText(text, path);
}

}  // namespace ringdhcp
