// The section storage.postgresql.
#include <algorithm>
#include <cstdint>
#include <string>

#include "server/config/validate.h"

namespace ringdhcp {

namespace {

constexpr char kSection[] = "storage.postgresql";
constexpr std::size_t kServerIdMax = 63;
constexpr std::uint32_t kOutboxRowsMin = 100'000;

bool IsServerId(const std::string& text) {
  return !text.empty() && text.size() <= kServerIdMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

PostgresqlConfig BuildSection(const config::Postgresql& section, const FieldPlaces& places,
                              Report& report) {
  PostgresqlConfig built;
  const auto number = [&](const char* name, bool present, std::uint32_t value, std::uint32_t min,
                          std::uint32_t max, const char* unit, std::uint32_t& target) {
    if (!present) return;
    CheckRange(value, min, max, unit, std::string(kSection) + '.' + name, places, report);
    target = value;
  };
  built.connection = section.connection();
  if (section.has_server_id()) {
    const std::string path = std::string(kSection) + ".server_id";
    built.server_id = section.server_id();
    if (!places.IsBad(path) && !IsServerId(built.server_id)) {
      report.Error(places.At(path), path, "must be 1-63 letters, digits, '.', '-' or '_'",
                   "delete the line for the host name");
    }
  }
  if (section.has_migrate()) built.migrate = section.migrate();
  number("connect_timeout", section.has_connect_timeout(), section.connect_timeout(), 2, 60,
         " seconds", built.connect_timeout_s);
  number("statement_timeout", section.has_statement_timeout(), section.statement_timeout(), 1, 600,
         " seconds", built.statement_timeout_s);
  number("batch_rows_max", section.has_batch_rows_max(), section.batch_rows_max(), 64, 8192,
         " rows", built.batch_rows_max);
  number("outbox_rows_max", section.has_outbox_rows_max(), section.outbox_rows_max(),
         kOutboxRowsMin, 0xFFFFFFFF, " rows", built.outbox_rows_max);
  number("history_days", section.has_history_days(), section.history_days(), 0, 36500, " days",
         built.history_days);
  return built;
}

}  // namespace

void BuildPostgresql(const config::Config& file, const FieldPlaces& places, Report& report,
                     ServerConfig& config) {
  const bool present = places.Has(kSection) && !places.IsBad(kSection);
  if (config.durability == Durability::kPostgresql && !places.Has(kSection)) {
    report.Error(places.At("durability"), "durability",
                 "'postgresql' needs the section storage.postgresql",
                 "the least is: storage: {postgresql: {connection: \"host=... dbname=...\"}}");
  }
  if (!present) return;
  if (config.storage == StorageType::kMemory) {
    report.Error(places.At(kSection), kSection, "needs storage type local, its journal",
                 "delete storage.type");
  }
  config.postgresql = BuildSection(file.storage().postgresql(), places, report);
}

}  // namespace ringdhcp
