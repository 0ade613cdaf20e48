#include "storage/postgres/migrations.h"

#include <array>

namespace ringdhcp {

namespace {

// fillfactor 60 leaves room in each page for the next version of its rows, and no index covers a
// column that a renewal changes, so a renewal touches no index (HOT). An index on expires halves
// the rate.
constexpr std::string_view kLeases = R"sql(
CREATE TYPE ringdhcp.lease_state AS ENUM
  ('free', 'offered', 'bound', 'released', 'expired', 'declined');
COMMENT ON TYPE ringdhcp.lease_state IS
  'bound: acknowledged (ended when expires has passed); released: given back by the client; '
  'declined: found in use by somebody else, out of use until expires; the others are never stored';

CREATE TABLE ringdhcp.leases (
  address inet PRIMARY KEY,
  subnet_id bigint NOT NULL,
  state ringdhcp.lease_state NOT NULL,
  hardware_type smallint NOT NULL,
  hardware_address text NOT NULL,
  client_id bytea,
  hostname text,
  circuit_id text,
  remote_id text,
  relay_information bytea,
  starts timestamptz NOT NULL,
  expires timestamptz NOT NULL,
  version bigint NOT NULL,
  server_id text NOT NULL
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
COMMENT ON TABLE ringdhcp.leases IS
  'The last known state of each address that was ever leased, written by ringdhcp some moments '
  'after its clients were served. Read only: a change made here does not reach a running server';
COMMENT ON COLUMN ringdhcp.leases.address IS 'The leased IPv4 address';
COMMENT ON COLUMN ringdhcp.leases.subnet_id IS 'Id of the subnet in the configuration';
COMMENT ON COLUMN ringdhcp.leases.state IS 'What happened to the address last; see the type';
COMMENT ON COLUMN ringdhcp.leases.hardware_type IS 'RFC 2131 htype; 1: Ethernet';
COMMENT ON COLUMN ringdhcp.leases.hardware_address IS
  'RFC 2131 chaddr, hexadecimal, lower case, with colons: 00:0c:01:02:03:04';
COMMENT ON COLUMN ringdhcp.leases.client_id IS
  'Client identifier (option 61), whole; null if the client sent none';
COMMENT ON COLUMN ringdhcp.leases.hostname IS
  'Host name (option 12) as the client sent it; octets outside printable ASCII stand as \ooo '
  '(octal) and a backslash as \\: decode(hostname, ''escape'') gives the octets; null if none';
COMMENT ON COLUMN ringdhcp.leases.circuit_id IS
  'Agent circuit id (option 82, sub-option 1), written like hostname; null if none';
COMMENT ON COLUMN ringdhcp.leases.remote_id IS
  'Agent remote id (option 82, sub-option 2), written like hostname; null if none';
COMMENT ON COLUMN ringdhcp.leases.relay_information IS
  'Relay agent information (option 82), whole; null if the client was not served through a relay';
COMMENT ON COLUMN ringdhcp.leases.starts IS 'When the client was last acknowledged';
COMMENT ON COLUMN ringdhcp.leases.expires IS
  'When the lease, or the probation of a declined address, ends; infinity: never';
COMMENT ON COLUMN ringdhcp.leases.version IS
  'Rises with each change of the address; of two rows the one with the larger version holds';
COMMENT ON COLUMN ringdhcp.leases.server_id IS 'The server that wrote the row';

CREATE TABLE ringdhcp.servers (
  server_id text PRIMARY KEY,
  session uuid NOT NULL,
  backend_pid integer NOT NULL,
  host text NOT NULL,
  process_id integer NOT NULL,
  connected timestamptz NOT NULL,
  store uuid NOT NULL,
  position bigint NOT NULL,
  updated timestamptz NOT NULL
) WITH (fillfactor = 10);
COMMENT ON TABLE ringdhcp.servers IS 'The servers that write here, and how far each has come';
COMMENT ON COLUMN ringdhcp.servers.server_id IS 'storage.postgresql.server_id of its configuration';
COMMENT ON COLUMN ringdhcp.servers.session IS 'The run of the server that may write';
COMMENT ON COLUMN ringdhcp.servers.backend_pid IS 'Its process in PostgreSQL';
COMMENT ON COLUMN ringdhcp.servers.host IS 'The host it runs on';
COMMENT ON COLUMN ringdhcp.servers.process_id IS 'Its process id there';
COMMENT ON COLUMN ringdhcp.servers.connected IS 'Since when it is connected';
COMMENT ON COLUMN ringdhcp.servers.store IS 'Id of its local store';
COMMENT ON COLUMN ringdhcp.servers.position IS
  'Every change up to this position of its outbox is in leases; written with them';
COMMENT ON COLUMN ringdhcp.servers.updated IS 'When it last wrote';

CREATE TABLE ringdhcp.subnets (
  server_id text NOT NULL,
  subnet_id bigint NOT NULL,
  prefix cidr NOT NULL,
  pool_addresses bigint NOT NULL,
  PRIMARY KEY (server_id, subnet_id)
);
COMMENT ON TABLE ringdhcp.subnets IS 'The subnets that each server serves, as configured';
COMMENT ON COLUMN ringdhcp.subnets.server_id IS 'The server';
COMMENT ON COLUMN ringdhcp.subnets.subnet_id IS 'Id of the subnet in the configuration';
COMMENT ON COLUMN ringdhcp.subnets.prefix IS 'The network';
COMMENT ON COLUMN ringdhcp.subnets.pool_addresses IS 'Addresses in its pools';

CREATE VIEW ringdhcp.active_leases AS
  SELECT * FROM ringdhcp.leases WHERE state = 'bound' AND expires > now();
COMMENT ON VIEW ringdhcp.active_leases IS 'Leases that clients hold now';

CREATE VIEW ringdhcp.subnet_utilisation AS
  SELECT s.server_id, s.subnet_id, s.prefix, s.pool_addresses,
         count(l.address) FILTER (WHERE l.state = 'bound') AS bound,
         count(l.address) FILTER (WHERE l.state = 'declined') AS declined,
         s.pool_addresses - count(l.address) AS free,
         round(100.0 * count(l.address) / nullif(s.pool_addresses, 0), 2) AS percent_used
    FROM ringdhcp.subnets s
    LEFT JOIN ringdhcp.leases l
      ON l.subnet_id = s.subnet_id AND l.expires > now() AND l.state IN ('bound', 'declined')
   GROUP BY s.server_id, s.subnet_id;
COMMENT ON VIEW ringdhcp.subnet_utilisation IS
  'Addresses of each subnet that are bound, declined and free now';
)sql";

// Partitions of one day, so that the end of the retention is a DROP, not a DELETE of many rows.
constexpr std::string_view kHistory = R"sql(
CREATE TABLE ringdhcp.lease_history (
  recorded timestamptz NOT NULL DEFAULT now(),
  address inet NOT NULL,
  subnet_id bigint NOT NULL,
  state ringdhcp.lease_state NOT NULL,
  hardware_type smallint NOT NULL,
  hardware_address text NOT NULL,
  client_id bytea,
  hostname text,
  circuit_id text,
  remote_id text,
  starts timestamptz NOT NULL,
  expires timestamptz NOT NULL,
  version bigint NOT NULL,
  server_id text NOT NULL
) PARTITION BY RANGE (recorded);
CREATE INDEX ON ringdhcp.lease_history (address, recorded);
COMMENT ON TABLE ringdhcp.lease_history IS
  'Each change of a lease, if storage.postgresql.history_days is set. After an outage so long that '
  'the outbox was compacted, the last change of each address only';
COMMENT ON COLUMN ringdhcp.lease_history.recorded IS 'When the change was written here';
COMMENT ON COLUMN ringdhcp.lease_history.address IS 'As in leases, at that time; so the others';
COMMENT ON COLUMN ringdhcp.lease_history.subnet_id IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.state IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.hardware_type IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.hardware_address IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.client_id IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.hostname IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.circuit_id IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.remote_id IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.starts IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.expires IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.version IS 'As in leases';
COMMENT ON COLUMN ringdhcp.lease_history.server_id IS 'As in leases';

CREATE FUNCTION ringdhcp.maintain_lease_history(retention_days integer) RETURNS void
LANGUAGE plpgsql AS $body$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  day date;
  old record;
BEGIN
  PERFORM pg_advisory_xact_lock(1382641521, 2);
  FOR day IN SELECT today + n FROM generate_series(-1, 2) AS n LOOP
    IF to_regclass('ringdhcp.lease_history_' || to_char(day, 'YYYYMMDD')) IS NULL THEN
      EXECUTE format(
        'CREATE TABLE ringdhcp.%I PARTITION OF ringdhcp.lease_history FOR VALUES FROM (%L) TO (%L)',
        'lease_history_' || to_char(day, 'YYYYMMDD'),
        day::text || ' 00:00:00+00', (day + 1)::text || ' 00:00:00+00');
    END IF;
  END LOOP;
  FOR old IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'ringdhcp.lease_history'::regclass
       AND c.relname ~ '^lease_history_\d{8}$'
       AND to_date(right(c.relname, 8), 'YYYYMMDD') < today - retention_days
  LOOP
    EXECUTE format('DROP TABLE ringdhcp.%I', old.relname);
  END LOOP;
END
$body$;
COMMENT ON FUNCTION ringdhcp.maintain_lease_history(integer) IS
  'Makes the next partitions of lease_history and drops those older than the given days';

CREATE FUNCTION ringdhcp.holder(wanted inet, at timestamptz)
RETURNS SETOF ringdhcp.lease_history LANGUAGE sql STABLE AS $body$
  SELECT * FROM (SELECT * FROM ringdhcp.lease_history
                  WHERE address = wanted AND starts <= at
                  ORDER BY starts DESC, version DESC LIMIT 1) AS last_change
   WHERE state = 'bound' AND expires > at
$body$;
COMMENT ON FUNCTION ringdhcp.holder(inet, timestamptz) IS
  'Who held an address at a time, as far as lease_history reaches back; no row: nobody';
)sql";

constexpr std::array<Migration, 2> kMigrations = {{
    {1, "leases", kLeases},
    {2, "lease history", kHistory},
}};

}  // namespace

const char* const kMakeMigrationTable = R"sql(
CREATE SCHEMA IF NOT EXISTS ringdhcp;
COMMENT ON SCHEMA ringdhcp IS 'Leases of ringdhcp, a DHCP server';
CREATE TABLE IF NOT EXISTS ringdhcp.schema_migrations (
  number integer PRIMARY KEY,
  name text NOT NULL,
  applied timestamptz NOT NULL DEFAULT now(),
  applied_by text NOT NULL
);
COMMENT ON TABLE ringdhcp.schema_migrations IS 'The steps of the schema that were applied';
COMMENT ON COLUMN ringdhcp.schema_migrations.number IS 'Number of the step, from 1';
COMMENT ON COLUMN ringdhcp.schema_migrations.name IS 'What it is about';
COMMENT ON COLUMN ringdhcp.schema_migrations.applied IS 'When it was applied';
COMMENT ON COLUMN ringdhcp.schema_migrations.applied_by IS 'The server or host that applied it';
)sql";

std::span<const Migration> Migrations() { return kMigrations; }

}  // namespace ringdhcp
