#ifndef RINGDHCP_STORAGE_POSTGRES_MIGRATIONS_H_
#define RINGDHCP_STORAGE_POSTGRES_MIGRATIONS_H_

#include <span>
#include <string_view>

namespace ringdhcp {

/// One step of the schema. Applied in one transaction, once, in the order of the numbers. A
/// migration that was released is never changed.
struct Migration {
  int number;
  std::string_view name;
  std::string_view sql;
};

/// Every migration this program knows, numbered from 1 without a gap.
std::span<const Migration> Migrations();
inline int NewestSchema() { return Migrations().back().number; }

/// Makes the schema and its table of migrations. Harmless when they exist, but CREATE SCHEMA needs
/// a privilege even then: look first.
extern const char* const kMakeMigrationTable;

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_POSTGRES_MIGRATIONS_H_
