#include "storage/postgres/connection_string.h"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ringdhcp {

namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

void Append(std::string& text, std::string_view keyword, std::string_view value) {
  text += text.empty() ? "" : " ";
  text.append(keyword).append("='");
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  text += '\'';
}

}  // namespace

absl::StatusOr<std::string> WithDefaults(const std::string& connection,
                                         std::span<const ConnectionDefault> defaults) {
  char* error = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(connection.c_str(), &error));
  if (options == nullptr) {
    const std::string text = error == nullptr ? "out of memory" : error;
    PQfreemem(error);
    return absl::InvalidArgumentError(
        absl::StrCat("the connection string: ", absl::StripSuffix(text, "\n")));
  }
  std::string text;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) {
      Append(text, option->keyword, option->val);
      continue;
    }
    for (const ConnectionDefault& entry : defaults) {
      if (std::string_view(entry.keyword) != option->keyword) continue;
      if (entry.environment != nullptr && std::getenv(entry.environment) != nullptr) continue;
      Append(text, entry.keyword, entry.value);
    }
  }
  return text;
}

}  // namespace ringdhcp
