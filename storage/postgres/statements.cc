#include "storage/postgres/statements.h"

namespace ringdhcp {

std::string UpsertBatch(bool with_history) {
  std::string sql = R"sql(
WITH owner AS (
  UPDATE ringdhcp.servers SET position = greatest(position, $3), updated = now()
   WHERE server_id = $1 AND session = $2
  RETURNING server_id
), written AS (
  INSERT INTO ringdhcp.leases AS l
    (address, subnet_id, state, hardware_type, hardware_address, client_id, hostname, circuit_id,
     remote_id, relay_information, starts, expires, version, server_id)
  SELECT r.address, r.subnet_id, r.state, r.hardware_type, r.hardware_address,
         decode(r.client_id, 'hex'), r.hostname, r.circuit_id, r.remote_id,
         decode(r.relay_information, 'hex'), to_timestamp(r.starts), to_timestamp(r.expires),
         r.version, $1
    FROM unnest($4::inet[], $5::bigint[], $6::ringdhcp.lease_state[], $7::smallint[], $8::text[],
                $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::float8[],
                $15::float8[], $16::bigint[])
      AS r(address, subnet_id, state, hardware_type, hardware_address, client_id, hostname,
           circuit_id, remote_id, relay_information, starts, expires, version)
   WHERE EXISTS (SELECT FROM owner)
  ON CONFLICT (address) DO UPDATE SET
    subnet_id = excluded.subnet_id, state = excluded.state,
    hardware_type = excluded.hardware_type, hardware_address = excluded.hardware_address,
    client_id = excluded.client_id, hostname = excluded.hostname,
    circuit_id = excluded.circuit_id, remote_id = excluded.remote_id,
    relay_information = excluded.relay_information, starts = excluded.starts,
    expires = excluded.expires, version = excluded.version, server_id = excluded.server_id
   WHERE l.version < excluded.version)sql";
  if (with_history) {
    sql += R"sql(
  RETURNING l.*
), remembered AS (
  INSERT INTO ringdhcp.lease_history
    (address, subnet_id, state, hardware_type, hardware_address, client_id, hostname, circuit_id,
     remote_id, starts, expires, version, server_id)
  SELECT address, subnet_id, state, hardware_type, hardware_address, client_id, hostname,
         circuit_id, remote_id, starts, expires, version, server_id FROM written)sql";
  }
  return sql + "\n) SELECT count(*) FROM owner";
}

}  // namespace ringdhcp
