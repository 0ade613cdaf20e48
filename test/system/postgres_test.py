"""Leases in PostgreSQL: away for a while, killed with the server, and the source of a new start.

The full run: postgres_test.py --server PROGRAM --outage 60 --rate 3000 --rounds 20
--leases 1000000 --loss 1 --limit 1800
"""

import ipaddress
import os
import random
import threading
import time

import namespace
import packet_port
import perfdhcp
import postgres
import promise_load
import server
import system_test
from system_test import options, say


def differences(table, rows):
    """What differs between two {address: row}, as text."""
    return [f"{address}: table {table.get(address)}, local {rows.get(address)}"
            for address in sorted(table.keys() | rows.keys())
            if table.get(address) != rows.get(address)]


class PostgresTest(system_test.SystemTest):
    """ringdhcp with a PostgreSQL of its own."""

    def make(self, durability, pool="8.255", links=2):
        """(network, cluster, server), the server not yet started."""
        cluster = postgres.Cluster(self)
        network = namespace.Network(links=links, prefix_length=12)
        subnets = [server.subnet_of(link, pool) for link in network.links]
        daemon = server.Server(self, network, subnets=subnets, durability=durability)
        daemon.config["storage"]["postgresql"] = {
            "connection": cluster.connection, "server_id": "test", "statement_timeout": 3}
        return network, cluster, daemon

    def wait_caught_up(self, daemon, seconds=60):
        """Waits until PostgreSQL has everything; returns how long it took."""
        start = time.monotonic()
        self.assertTrue(system_test.wait_until(
            lambda: daemon.metric("ringdhcp_replication_lag_rows") == 0
            and daemon.metric("ringdhcp_replication_state", state="streaming") == 1, seconds, 0.1),
            "PostgreSQL was not caught up with")
        return time.monotonic() - start

    def check_equal(self, cluster, daemon):
        """The table and the local store of the stopped server are the same, row by row."""
        rows, table = daemon.leases(), cluster.leases()
        found = differences(table, rows)
        say(f"{len(table)} rows in PostgreSQL, {len(rows)} in the local store, "
            f"{len(found)} differ")
        self.assertEqual(found[:5], [])
        self.assertGreater(len(rows), 0)

    def test_outage_is_not_noticed(self):
        """durability local: PostgreSQL killed under load; no client notices, then it catches up"""
        outage, rate = options.outage, options.rate
        network, cluster, daemon = self.make("local", pool="255.255")
        daemon.start()
        for link in network.links:
            link.add_client_address()
        seconds = outage + 6
        runs = [perfdhcp.Run(link, seconds, rate // 2, rate * seconds) for link in network.links]
        time.sleep(2)
        cluster.crash()
        time.sleep(outage / 2)
        status, text = daemon.get("/readyz")
        self.assertEqual((status, "unavailable" in text), (200, True), text)
        time.sleep(outage / 2)
        lag = daemon.metric("ringdhcp_replication_lag_rows")
        age = daemon.metric("ringdhcp_replication_lag_seconds")
        cluster.start()
        results = [run.result() for run in runs]
        took = self.wait_caught_up(daemon)
        for link, result in zip(network.links, results):
            drops = [result.drop_percent("DISCOVER", "OFFER"),
                     result.drop_percent("REQUEST", "ACK")]
            say(f"{link.server_interface}: {result.received['ACK'] / seconds:.0f} ACK/s, lost "
                f"{drops[0]:.2f} % of DISCOVERs, {drops[1]:.2f} % of REQUESTs, worst "
                f"{result.maximum_ms:.0f} ms")
            dropped = {labels["reason"]: int(value) for metric, labels, value in daemon.metrics()
                       if metric == "ringdhcp_packets_dropped_total" and value
                       and labels.get("interface") == link.server_interface}
            say(f"{link.server_interface}: server drops {dropped}, load average "
                f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
            self.assertLessEqual(max(drops), options.loss)
        say(f"away for {outage} s: {lag:.0f} rows and {age:.1f} s behind at the end; caught up "
            f"{took:.1f} s after the load")
        self.assertGreater(lag, 0)
        self.assertGreater(age, outage / 2)
        self.assertEqual(daemon.terminate()[0], 0)
        for text in ("PostgreSQL: unavailable", "PostgreSQL: replicating"):
            self.assertIn(text, daemon.log())
        self.check_equal(cluster, daemon)

    def watch_table(self, cluster, loads, stop, missing):
        """Checks again and again that what was acknowledged is in PostgreSQL."""
        while not stop.is_set():
            # First the promises, then the table: it only grows.
            promises = [(load, dict(load.promises)) for load in loads]
            try:
                table = cluster.leases()
            except RuntimeError:  # it is away
                time.sleep(0.05)
                continue
            for load, promised in promises:
                for address, (mac, _) in promised.items():
                    row = table.get(address)
                    if load.promises.get(address, (None,))[0] == mac and \
                            (row is None or server.mac_in(row) != mac):
                        missing.append(f"{address} of {mac.hex(':')}: {row}")

    def test_no_ack_without_its_row(self):
        """durability postgresql: no ACK without its row; renewals go on, new clients wait"""
        network, cluster, daemon = self.make("postgresql")
        daemon.start()
        loads = [promise_load.PromiseLoad(link, 7 + link.index, window=16)
                 for link in network.links]
        link = network.links[0]
        port = packet_port.Port(link.client_namespace, link.client_interface)
        mac = packet_port.mac_of(0xFFFFF, 9)
        address = port.acquire(mac).yiaddr
        stop, missing = threading.Event(), []
        watcher = threading.Thread(target=self.watch_table, args=(cluster, loads, stop, missing))
        watcher.start()
        try:
            self.run_load(loads, 2)
            cluster.crash()
            time.sleep(1.5)
            for load in loads:
                load.settle()  # ACKs of what was committed before the crash
            before = self.acks(loads)
            known = [set(load.promises) for load in loads]
            self.run_load(loads, options.outage / 2)
            self.assertEqual(daemon.get("/readyz")[0], 503)
            during = self.acks(loads) - before
            new = [set(load.promises) - had for load, had in zip(loads, known)]
            self.assertEqual(new, [set()] * len(loads), "a new lease without PostgreSQL")
            ack = port.renew(mac, address, link.server_address, link.server_mac)
            self.assertIsNotNone(ack, "a client with a durable lease was not renewed")
            say(f"PostgreSQL away: {during} ACKs, all renewals; a durable lease renewed with "
                f"{ack.lease_time} s left")
            cluster.start()
            self.assertTrue(system_test.wait_until(daemon.ready, 20))
            before = self.acks(loads)
            self.run_load(loads, 2)
            self.assertGreater(self.acks(loads), before, "no ACK after the return")
        finally:
            stop.set()
            watcher.join()
        self.assertEqual(missing[:5], [], "acknowledged without a row in PostgreSQL")
        self.wait_caught_up(daemon)
        self.assertEqual(daemon.terminate()[0], 0)
        broken = [text for load in loads for text in load.violations
                  + load.unkept(daemon.leases())]
        self.assertEqual(broken[:5], [])
        self.check_equal(cluster, daemon)

    def acks(self, loads):
        """How many ACKs the loads got."""
        return sum(load.counts["ack"] for load in loads)

    def run_load(self, loads, seconds):
        """All loads by turns for some seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for load in loads:
                load.step()
            time.sleep(0.0005)

    def run_load_to_ack(self, loads, seconds):
        """All loads by turns until there is one more ACK; how many seconds that took."""
        before, start = self.acks(loads), time.monotonic()
        while self.acks(loads) == before:
            self.assertLess(time.monotonic() - start, seconds, "no ACK")
            self.run_load(loads, 0.005)
        return time.monotonic() - start

    def kill_both(self, durability):
        """SIGKILL for ringdhcp and PostgreSQL under load, again and again."""
        network, cluster, daemon = self.make(durability, pool="120.255")
        loads = [promise_load.PromiseLoad(link, 3 + link.index) for link in network.links]
        moment = random.Random(options.seed)
        broken, first_ack = [], []
        for _ in range(options.rounds):
            daemon.start(ready_seconds=20)
            first_ack.append(self.run_load_to_ack(loads, 15))
            self.run_load(loads, moment.uniform(0.7, 1.5))
            daemon.kill()
            cluster.crash()
            for load in loads:
                load.settle()
            rows = daemon.leases()
            broken += [text for load in loads for text in load.unkept(rows) + load.violations]
            cluster.start()
            if durability == "postgresql":
                table = cluster.leases()
                broken += [f"PostgreSQL: {text}" for load in loads for text in load.unkept(table)]
        say(f"{durability}: {options.rounds} rounds, {self.acks(loads)} ACKs, {len(broken)} "
            f"promises broken, the first ACK at most {max(first_ack):.2f} s after the start")
        self.assertEqual(broken[:5], [])
        daemon.start(ready_seconds=20)
        self.wait_caught_up(daemon)
        self.assertEqual(daemon.terminate()[0], 0)
        self.check_equal(cluster, daemon)

    def test_both_killed_with_durability_local(self):
        """durability local: ringdhcp and PostgreSQL killed together; promises are kept"""
        self.kill_both("local")

    def test_both_killed_with_durability_postgresql(self):
        """durability postgresql: the same, and every promise is in PostgreSQL"""
        self.kill_both("postgresql")

    def test_a_lost_data_directory_is_restored(self):
        """an empty data directory is loaded from PostgreSQL, and waits for it"""
        network, cluster, daemon = self.make("local", pool="255.255", links=1)
        first = ipaddress.ip_address(network.links[0].prefix.split("/")[0]) + 256
        daemon.config["subnets"][0]["pools"] = [f"{first}-{first + options.leases - 1}"]
        path = f"{daemon.work}/config.yaml"
        daemon.start()
        self.assertEqual(daemon.terminate()[0], 0)
        self.assertIn("applied", namespace.run(options.server, "db", "status", "--config", path))
        cluster.query(
            "INSERT INTO ringdhcp.leases SELECT "
            f"'{first}'::inet + n, 1, 'bound', 1, '02:00:00:' || "
            "regexp_replace(lpad(to_hex(n), 6, '0'), '(..)(..)(..)', '\\1:\\2:\\3'), "
            "decode('01' || lpad(to_hex(n), 12, '0'), 'hex'), 'host-' || n, 'eth0/' || n % 48, "
            "'switch', decode('0104' || lpad(to_hex(n), 8, '0'), 'hex'), "
            "date_trunc('second', now()), date_trunc('second', now()) + '1 hour', 3, 'test' "
            f"FROM generate_series(0, {options.leases} - 1) AS n")
        # The data directory is lost: the next one is new.
        lost, daemon.data = daemon.data, daemon.data + "-new"
        daemon.config["storage"]["directory"] = daemon.data
        cluster.crash()
        daemon.start(ready_seconds=0)
        time.sleep(1)
        self.assertEqual(daemon.get("/readyz")[0], 503, "served without knowing its leases")
        cluster.start()
        start = time.monotonic()
        daemon.wait_ready(120)
        took = time.monotonic() - start
        line = [text for text in daemon.log().splitlines()
                if "compared the local store" in text][-1]
        say(f"{options.leases} leases, ready {took:.1f} s after PostgreSQL; {line}")
        self.assertEqual(daemon.terminate()[0], 0)
        self.check_equal(cluster, daemon)
        self.assertEqual(len(daemon.leases()), options.leases)
        self.assertNotEqual(lost, daemon.data)

    def test_a_second_server_of_the_same_id_is_refused(self):
        """a second live server with the id of the first ends with the first one's name"""
        network, _, daemon = self.make("local")
        daemon.start()
        other = server.Server(self, network, http={"listen": ""})
        other.config["storage"]["postgresql"] = daemon.config["storage"]["postgresql"]
        other.start(ready_seconds=0)
        self.assertEqual(other.process.wait(15), 1)
        self.assertIn(f"process {daemon.pid}", other.log())
        self.assertTrue(daemon.ready())


if __name__ == "__main__":
    system_test.main(timeout_seconds=170, outage=10, rate=1000, rounds=3, leases=100000, seed=1,
                     loss=5.0)
