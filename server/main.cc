#include <string>

#include "CLI/CLI.hpp"
#include "server/admin/commands.h"
#include "server/admin/version.h"

int main(int argc, char** argv) {
  CLI::App app{"ringdhcp: a DHCPv4 server"};
  app.set_version_flag("--version", ringdhcp::kVersion);
  app.require_subcommand(1);

  std::string config;
  CLI::App* serve = app.add_subcommand("serve", "Serve until SIGTERM");
  serve->add_option("-c,--config", config, "Configuration file")->required();
  bool skip_damaged_leases = false;
  serve->add_flag(
      "--skip-damaged-leases", skip_damaged_leases,
      "Go on with the leases that can be read; the addresses of the others may be given "
      "again");

  std::string checked;
  CLI::App* check = app.add_subcommand("check", "Check a configuration file and exit");
  check->add_option("file", checked, "Configuration file")->required();

  std::string data;
  CLI::App* leases =
      app.add_subcommand("leases", "Print the stored leases of a stopped server as JSON lines");
  leases->add_option("-d,--data", data, "Data directory (storage.directory)")->required();

  std::string db_config;
  CLI::App* db = app.add_subcommand("db", "The schema in PostgreSQL (storage.postgresql)");
  db->require_subcommand(1);
  CLI::App* migrate = db->add_subcommand("migrate", "Apply missing steps");
  migrate->add_option("-c,--config", db_config, "Configuration file")->required();
  CLI::App* status = db->add_subcommand("status", "Print the steps; fails if one is missing");
  status->add_option("-c,--config", db_config, "Configuration file")->required();

  CLI11_PARSE(app, argc, argv);
  using ringdhcp::DatabaseAction;
  if (migrate->parsed()) return ringdhcp::ManageDatabase(DatabaseAction::kMigrate, db_config);
  if (status->parsed()) return ringdhcp::ManageDatabase(DatabaseAction::kStatus, db_config);
  if (serve->parsed()) return ringdhcp::Serve(config, skip_damaged_leases);
  if (check->parsed()) return ringdhcp::CheckConfig(checked);
  return ringdhcp::PrintLeases(data);
}
