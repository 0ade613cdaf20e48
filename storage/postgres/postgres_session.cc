#include "storage/postgres/postgres_session.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <pqxx/pqxx>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "storage/postgres/connection_string.h"
#include "storage/postgres/statements.h"

namespace ringdhcp {

namespace {

constexpr char kNoStore[] = "00000000-0000-0000-0000-000000000000";
constexpr char kUpsert[] = "upsert";
// A connection that was lost may live on in the server for a moment.
constexpr int kLockAttempts = 20;
constexpr std::chrono::milliseconds kLockPause(100);
constexpr std::size_t kRowsPerArm = 4096;

/// libpq's text, which may have several lines, as one.
std::string OneLine(std::string_view text) {
  std::string line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return absl::StrReplaceAll(line, {{"\n", "; "}, {"\t", " "}});
}

absl::Status FromSqlError(const pqxx::sql_error& error) {
  const std::string& code = error.sqlstate();
  const std::string cause = OneLine(error.what());
  if (code == "25006") {
    return absl::UnavailableError(
        absl::StrCat(cause,
                     ": this PostgreSQL takes no writes; name the primary, or several hosts with "
                     "target_session_attrs=read-write"));
  }
  if (code == "42501") {
    return absl::UnavailableError(absl::StrCat(cause, ": grant the role what it needs"));
  }
  if (code == "53100") return absl::UnavailableError(absl::StrCat(cause, ": free space there"));
  return absl::UnavailableError(code.empty() ? cause : absl::StrCat(cause, " (", code, ")"));
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace

std::string RandomUuid() {
  std::random_device random;
  std::string text;
  for (int i = 0; i < 16; ++i) {
    std::uint32_t octet = random() & 0xFF;
    if (i == 6) octet = (octet & 0x0F) | 0x40;  // version 4, RFC 4122 section 4.4
    if (i == 8) octet = (octet & 0x3F) | 0x80;
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    absl::StrAppend(&text, absl::Hex(octet, absl::kZeroPad2));
  }
  return text;
}

struct PostgresSession::Impl {
  Impl(const PostgresOptions& given, SocketGuard& socket_guard)
      : options(given), guard(socket_guard) {}
  ~Impl() { guard.Watch(-1); }

  const PostgresOptions options;
  SocketGuard& guard;
  std::unique_ptr<pqxx::connection> connection;
  std::string session;
  LeaseArrays arrays;

  void Arm() { guard.Arm(std::chrono::seconds(options.statement_timeout_s + 2)); }

  /// Runs `call` under the time limit; exceptions become a status.
  template <typename Call>
  absl::Status Run(Call call) {
    Arm();
    absl::Status status;
    try {
      status = call();
    } catch (const pqxx::sql_error& error) {
      status = FromSqlError(error);
    } catch (const std::exception& error) {
      status = absl::UnavailableError(Cause(error));
    }
    guard.Disarm();
    return status;
  }

  /// Of a connection that was lost libpqxx may tell only what it could not do for that.
  std::string Cause(const std::exception& error) const {
    const std::string what = OneLine(error.what());
    const bool lost = connection != nullptr && !connection->is_open();
    return lost ? absl::StrCat("the connection was lost: ", what) : what;
  }

  /// The newest step applied, 0 for an empty database.
  static int SchemaVersion(pqxx::transaction_base& transaction) {
    if (transaction.exec("SELECT to_regclass('ringdhcp.schema_migrations')")[0][0].is_null()) {
      return 0;
    }
    return transaction.exec("SELECT coalesce(max(number), 0) FROM ringdhcp.schema_migrations")[0][0]
        .as<int>();
  }

  bool TryLock(pqxx::transaction_base& transaction) {
    return transaction
        .exec_params(
            absl::StrCat("SELECT pg_try_advisory_lock(", kServerLockClass, ", hashtext($1))"),
            options.server_id)[0][0]
        .as<bool>();
  }

  absl::Status InUse(pqxx::transaction_base& transaction) {
    const pqxx::result found = transaction.exec_params(
        "SELECT host, process_id, date_trunc('second', connected) FROM ringdhcp.servers "
        "WHERE server_id = $1",
        options.server_id);
    std::string by = "another connection";
    if (!found.empty()) {
      by = absl::StrCat("ringdhcp on host ", found[0][0].c_str(), ", process ", found[0][1].c_str(),
                        ", connected since ", found[0][2].c_str());
    }
    return absl::FailedPreconditionError(
        absl::StrCat("the server id '", options.server_id, "' is in use by ", by,
                     ": stop that one, or give each server its own storage.postgresql.server_id"));
  }

  /// Takes the lock of this server; ends a connection of this run that was given up here but lives
  /// on there.
  absl::Status TakeLock(pqxx::transaction_base& transaction, const ServerRun& run) {
    for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
      if (TryLock(transaction)) return absl::OkStatus();
      if (run.backend_pid != 0) {
        transaction.exec_params(
            "SELECT pg_terminate_backend(backend_pid) FROM ringdhcp.servers "
            "WHERE server_id = $1 AND session = $2 AND backend_pid = $3",
            options.server_id, run.session, run.backend_pid);
      }
      Arm();
      std::this_thread::sleep_for(kLockPause);
    }
    return InUse(transaction);
  }
};

PostgresSession::PostgresSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PostgresSession::~PostgresSession() = default;

absl::StatusOr<std::unique_ptr<PostgresSession>> PostgresSession::Connect(
    const PostgresOptions& options, SocketGuard& guard) {
  const std::array<ConnectionDefault, 6> defaults = {{
      {"connect_timeout", "PGCONNECT_TIMEOUT", absl::StrCat(options.connect_timeout_s)},
      {"application_name", "PGAPPNAME", absl::StrCat("ringdhcp ", options.server_id)},
      {"keepalives_idle", nullptr, "10"},
      {"keepalives_interval", nullptr, "5"},
      {"keepalives_count", nullptr, "3"},
      {"tcp_user_timeout", nullptr, absl::StrCat((options.statement_timeout_s + 2) * 1000)},
  }};
  const absl::StatusOr<std::string> text = WithDefaults(options.connection, defaults);
  if (!text.ok()) return text.status();
  auto impl = std::make_unique<Impl>(options, guard);
  const absl::Status status = impl->Run([&] {
    guard.Disarm();  // connecting has the limit connect_timeout, for each host
    impl->connection = std::make_unique<pqxx::connection>(*text);
    pqxx::connection& connection = *impl->connection;
    guard.Watch(connection.sock());
    impl->Arm();
    // By default libpqxx connects again without a word, and what was locked is lost unnoticed.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection.inhibit_reactivation(true);
#pragma GCC diagnostic pop
    pqxx::nontransaction transaction(connection);
    transaction.exec("SET client_min_messages = warning");
    transaction.exec("SET client_encoding = UTF8");
    transaction.exec(absl::StrCat("SET statement_timeout = ", options.statement_timeout_s * 1000));
    // A commit that is reported must be on disk; more than that the operator may ask for.
    transaction.exec(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'");
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return std::unique_ptr<PostgresSession>(new PostgresSession(std::move(impl)));
}

absl::StatusOr<int> PostgresSession::Migrate() {
  int applied = 0;
  const absl::Status status = impl_->Run([&] {
    pqxx::work transaction(*impl_->connection);
    transaction.exec(absl::StrCat("SELECT pg_advisory_xact_lock(", kMigrationLock, ")"));
    int version = Impl::SchemaVersion(transaction);
    if (version == 0) transaction.exec(kMakeMigrationTable);
    for (const Migration& migration : Migrations()) {
      if (migration.number <= version) continue;
      impl_->Arm();
      transaction.exec(std::string(migration.sql));
      transaction.exec_params(
          "INSERT INTO ringdhcp.schema_migrations (number, name, applied_by) VALUES ($1, $2, $3)",
          migration.number, std::string(migration.name), HostName());
      ++applied;
    }
    transaction.commit();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return applied;
}

absl::StatusOr<std::vector<AppliedMigration>> PostgresSession::MigrationStatus() {
  std::vector<AppliedMigration> list;
  for (const Migration& migration : Migrations()) {
    list.push_back({migration.number, std::string(migration.name), ""});
  }
  const absl::Status status = impl_->Run([&] {
    pqxx::nontransaction transaction(*impl_->connection);
    if (Impl::SchemaVersion(transaction) == 0) return absl::OkStatus();
    for (const pqxx::row row : transaction.exec(
             "SELECT number, name, date_trunc('second', applied) FROM ringdhcp.schema_migrations "
             "ORDER BY number")) {
      const int number = row[0].as<int>();
      if (number > NewestSchema()) list.push_back({number, row[1].c_str(), ""});
      for (AppliedMigration& migration : list) {
        if (migration.number == number) migration.applied = row[2].c_str();
      }
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return list;
}

absl::Status PostgresSession::CheckSchema() {
  int version = 0;
  absl::Status status = impl_->Run([&] {
    pqxx::nontransaction transaction(*impl_->connection);
    version = Impl::SchemaVersion(transaction);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (version > NewestSchema()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the schema in PostgreSQL has version ", version, ", this ringdhcp knows version ",
        NewestSchema(), ": run the newer ringdhcp that made it"));
  }
  if (version == NewestSchema()) return absl::OkStatus();
  if (!impl_->options.migrate) {
    return absl::FailedPreconditionError(absl::StrCat("the schema in PostgreSQL has version ",
                                                      version, ", this ringdhcp needs version ",
                                                      NewestSchema(), ": run ringdhcp db migrate"));
  }
  return Migrate().status();
}

absl::StatusOr<ServerRecord> PostgresSession::TakeServer(const ServerRun& run) {
  ServerRecord record;
  const absl::Status status = impl_->Run([&]() -> absl::Status {
    pqxx::nontransaction transaction(*impl_->connection);
    if (absl::Status locked = impl_->TakeLock(transaction, run); !locked.ok()) return locked;
    const pqxx::result row = transaction.exec_params(
        "INSERT INTO ringdhcp.servers AS s (server_id, session, backend_pid, host, process_id, "
        "connected, store, position, updated) "
        "VALUES ($1, $2, pg_backend_pid(), $3, $4, now(), $5, 0, now()) "
        "ON CONFLICT (server_id) DO UPDATE SET session = excluded.session, "
        "backend_pid = excluded.backend_pid, host = excluded.host, "
        "process_id = excluded.process_id, connected = excluded.connected "
        "RETURNING s.store, s.position",
        impl_->options.server_id, run.session, HostName(), static_cast<int>(::getpid()), kNoStore);
    record.store = row[0][0].c_str();
    if (record.store == kNoStore) record.store.clear();
    record.position = static_cast<std::uint64_t>(row[0][1].as<std::int64_t>());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  impl_->session = run.session;
  return record;
}

absl::Status PostgresSession::AdoptStore(const std::string& uuid) {
  return impl_->Run([&] {
    pqxx::nontransaction transaction(*impl_->connection);
    transaction.exec_params(
        "UPDATE ringdhcp.servers SET store = $3 WHERE server_id = $1 AND session = $2",
        impl_->options.server_id, impl_->session, uuid);
    return absl::OkStatus();
  });
}

absl::Status PostgresSession::Maintain() {
  std::vector<std::string> ids;
  std::vector<std::string> prefixes;
  std::vector<std::string> sizes;
  for (const PublishedSubnet& subnet : impl_->options.subnets) {
    ids.push_back(absl::StrCat(subnet.id));
    prefixes.push_back(subnet.prefix);
    sizes.push_back(absl::StrCat(subnet.pool_addresses));
  }
  const auto array = [](const std::vector<std::string>& values) {
    return absl::StrCat("{", absl::StrJoin(values, ","), "}");
  };
  return impl_->Run([&] {
    pqxx::work transaction(*impl_->connection);
    transaction.exec_params("DELETE FROM ringdhcp.subnets WHERE server_id = $1",
                            impl_->options.server_id);
    transaction.exec_params(
        "INSERT INTO ringdhcp.subnets "
        "SELECT $1, * FROM unnest($2::bigint[], $3::cidr[], $4::bigint[])",
        impl_->options.server_id, array(ids), array(prefixes), array(sizes));
    if (impl_->options.history_days > 0) {
      transaction.exec(absl::StrCat("SELECT ringdhcp.maintain_lease_history(",
                                    impl_->options.history_days, ")"));
    }
    transaction.commit();
    return absl::OkStatus();
  });
}

absl::Status PostgresSession::PrepareWrite() {
  return impl_->Run([&] {
    impl_->connection->prepare(kUpsert, UpsertBatch(impl_->options.history_days > 0));
    return absl::OkStatus();
  });
}

absl::Status PostgresSession::Write(std::span<const LeaseRecord* const> rows,
                                    std::uint64_t position) {
  return impl_->Run([&]() -> absl::Status {
    impl_->arrays.Clear();
    for (const LeaseRecord* row : rows) impl_->arrays.Add(*row);
    const auto& c = impl_->arrays.Finish();
    pqxx::nontransaction transaction(*impl_->connection);  // one statement is one transaction
    const pqxx::result owned = transaction.exec_prepared(
        kUpsert, impl_->options.server_id, impl_->session, position, c[0], c[1], c[2], c[3], c[4],
        c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12]);
    if (owned[0][0].as<int>() == 1) return absl::OkStatus();
    return impl_->InUse(transaction);
  });
}

absl::Status PostgresSession::Ping() {
  return impl_->Run([&] {
    pqxx::nontransaction transaction(*impl_->connection);
    transaction.exec("SELECT");
    return absl::OkStatus();
  });
}

absl::Status PostgresSession::LoadLeases(const std::function<void(const LeaseRecord&)>& row) {
  return impl_->Run([&]() -> absl::Status {
    pqxx::work transaction(*impl_->connection);
    transaction.exec("SET LOCAL statement_timeout = 0");
    std::vector<std::string> prefixes;
    for (const PublishedSubnet& subnet : impl_->options.subnets) prefixes.push_back(subnet.prefix);
    // libpqxx puts the name of the "table" into COPY as it is, and COPY takes a query there.
    const std::string query = absl::StrCat(
        "(", kSelectLeases, " WHERE server_id = ", transaction.quote(impl_->options.server_id),
        " OR address <<= ANY(",
        transaction.quote(absl::StrCat("{", absl::StrJoin(prefixes, ","), "}")), "::inet[]))");
    pqxx::stream_from stream(transaction, query);
    std::string line;
    std::uint64_t lines = 0;
    while (stream.get_raw_line(line)) {
      const std::optional<LeaseRecord> record = ParseLeaseLine(line);
      if (!record.has_value()) {
        return absl::FailedPreconditionError(
            absl::StrCat("PostgreSQL has a row in ringdhcp.leases that ringdhcp didn't write: ",
                         line.substr(0, 80), ": correct or delete it"));
      }
      row(*record);
      if (++lines % kRowsPerArm == 0) impl_->Arm();
    }
    stream.complete();
    transaction.commit();
    return absl::OkStatus();
  });
}

std::int32_t PostgresSession::backend_pid() const { return impl_->connection->backendpid(); }

std::string PostgresSession::peer() const {
  const char* const host = impl_->connection->hostname();
  const char* const port = impl_->connection->port();
  return absl::StrCat(host == nullptr ? "local socket" : host, ":", port == nullptr ? "" : port);
}

}  // namespace ringdhcp
