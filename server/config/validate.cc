#include "server/config/validate.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/config/network_values.h"
#include "server/config/suggest.h"

namespace ringdhcp {

namespace {

class ConfigBuilder {
 public:
  ConfigBuilder(const config::Config& file, const FieldPlaces& places, Report& report)
      : file_(file), places_(places), report_(report) {}

  ServerConfig Build() {
    BuildInterfaces();
    config_.subnets = BuildSubnets(file_, places_, report_);
    CheckInterfacesServed();
    BuildStorage();
    BuildLogAndHttp();
    BuildTimes();
    return std::move(config_);
  }

 private:
  using RepeatedString = google::protobuf::RepeatedPtrField<std::string>;

  void Error(const std::string& path, ValueError error) {
    report_.Error(places_.At(path), path, std::move(error.message), std::move(error.suggestion));
  }

  void BuildInterfaces() {
    Patterns("interfaces.include", file_.interfaces().include(), config_.interfaces_include);
    Patterns("interfaces.exclude", file_.interfaces().exclude(), config_.interfaces_exclude);
  }

  void Patterns(const std::string& list_path, const RepeatedString& texts,
                std::vector<std::string>& patterns) {
    for (int i = 0; i < texts.size(); ++i) {
      const std::string path = list_path + '[' + std::to_string(i) + ']';
      if (places_.IsBad(path)) continue;
      if (auto error = CheckInterfaceName(texts[i], /*pattern=*/true)) {
        Error(path, std::move(*error));
      } else {
        patterns.push_back(texts[i]);
      }
    }
  }

  void CheckInterfacesServed() {
    for (int i = 0; i < file_.subnets_size(); ++i) {
      const std::string path = "subnets[" + std::to_string(i) + "].interface";
      const std::string& name = file_.subnets(i).interface();
      if (name.empty() || places_.IsBad(path) || ServesInterface(config_, name)) continue;
      report_.Warning(places_.At(path), path, Quote(name) + " is not served",
                      "see interfaces.include and interfaces.exclude");
    }
  }

  // Sets `value` to the one whose name is written; names and values are in the same order.
  template <typename Value, std::size_t N>
  void Choose(bool present, const std::string& text, const std::string& path,
              const std::array<std::string_view, N>& names, Value& value) {
    if (!present || places_.IsBad(path)) return;
    for (std::size_t i = 0; i < N; ++i) {
      if (names[i] == text) {
        value = static_cast<Value>(i);
        return;
      }
    }
    Error(path, {"unknown value " + Quote(text), SuggestOneOf(text, names)});
  }

  void BuildStorage() {
    static constexpr std::array<std::string_view, 2> kTypes = {"local", "memory"};
    static constexpr std::array<std::string_view, 3> kDurabilities = {"local", "relaxed",
                                                                      "postgresql"};
    const config::Storage& storage = file_.storage();
    Choose(storage.has_type(), storage.type(), "storage.type", kTypes, config_.storage);
    Choose(file_.has_durability(), file_.durability(), "durability", kDurabilities,
           config_.durability);
    BuildPostgresql(file_, places_, report_, config_);
    const std::string path = "storage.directory";
    if (!storage.has_directory() || places_.IsBad(path)) return;
    if (storage.directory().empty()) {
      Error(path, {"must not be empty", "delete the line for " + config_.storage_directory});
      return;
    }
    if (config_.storage == StorageType::kMemory) {
      report_.Warning(places_.At(path), path, "is not used with storage type memory");
    }
    config_.storage_directory = storage.directory();
  }

  void BuildLogAndHttp() {
    static constexpr std::array<std::string_view, 5> kLevels = {"trace", "debug", "info", "warning",
                                                                "error"};
    static constexpr std::array<std::string_view, 2> kFormats = {"text", "json"};
    const config::Log& log = file_.log();
    Choose(log.has_level(), log.level(), "log.level", kLevels, config_.log_level);
    Choose(log.has_format(), log.format(), "log.format", kFormats, config_.log_format);
    const std::string path = "http.listen";
    if (!file_.http().has_listen() || places_.IsBad(path)) return;
    if (auto error = ReadListen(file_.http().listen(), &config_.http_host, &config_.http_port)) {
      Error(path, std::move(*error));
    }
  }

  void BuildTimes() {
    if (file_.has_offer_hold()) {
      CheckRange(file_.offer_hold(), 1, 3600, " seconds", "offer_hold", places_, report_);
      config_.offer_hold_s = file_.offer_hold();
    }
    if (file_.has_decline_probation()) {
      CheckRange(file_.decline_probation(), 1, 604800, " seconds", "decline_probation", places_,
                 report_);
      config_.decline_probation_s = file_.decline_probation();
    }
    if (file_.has_stale_after_ms()) {
      CheckRange(file_.stale_after_ms(), 10, 60000, " milliseconds", "stale_after_ms", places_,
                 report_);
      config_.stale_after_ms = file_.stale_after_ms();
    }
    if (file_.has_cache_threshold()) {
      config_.cache_threshold = file_.cache_threshold();
      if (config_.cache_threshold > 0.5) {
        Error("cache_threshold", {"must be 0-0.5, a fraction of the lease", "did you mean 0.5?"});
      }
    }
  }

  const config::Config& file_;
  const FieldPlaces& places_;
  Report& report_;
  ServerConfig config_;
};

}  // namespace

ServerConfig BuildServerConfig(const config::Config& file, const FieldPlaces& places,
                               Report& report) {
  return ConfigBuilder(file, places, report).Build();
}

}  // namespace ringdhcp
