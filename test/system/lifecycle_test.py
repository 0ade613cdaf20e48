"""Start, health, metrics, log, signals and the end of one server."""

import json
import os
import signal
import time

import namespace
import packet_port
import server
import system_test
from system_test import say, wait_until


class LifecycleTest(system_test.SystemTest):
    """Two interfaces."""

    def start(self, **changes):
        """A server with two links and a packet socket on each."""
        self.network = namespace.Network(links=2)
        self.daemon = server.Server(self, self.network, **changes).start()
        self.ports = [packet_port.Port(link.client_namespace, link.client_interface)
                      for link in self.network.links]

    def lease_both(self, number):
        """A new client on each link has to get a lease."""
        acks = [port.acquire(packet_port.mac_of(number, index))
                for index, port in enumerate(self.ports)]
        self.assertNotIn(None, acks)
        return acks

    def test_terminate(self):
        """SIGTERM while idle and under load: exit 0 within seconds, ACKs are stored"""
        self.start()
        self.lease_both(1)
        code, seconds = self.daemon.terminate()
        say(f"idle: exit {code} after {seconds:.2f} s")
        self.assertEqual(code, 0)
        self.assertLess(seconds, 3)
        self.daemon.start()
        kept = [ack.yiaddr for number in range(2, 60) for ack in self.lease_both(number)]
        self.daemon.process.send_signal(signal.SIGTERM)
        for number in range(100, 130):  # what is still acknowledged has to be stored as well
            for index, port in enumerate(self.ports):
                ack = port.acquire(packet_port.mac_of(number, index), 0.02, 1)
                kept += [ack.yiaddr] if ack else []
        self.assertEqual(self.daemon.process.wait(6), 0)
        rows = self.daemon.leases()
        self.assertEqual([a for a in kept if rows.get(a, {}).get("state") != "bound"], [])
        say(f"under load: exit 0, all {len(kept)} acknowledged leases stored")

    def test_damaged_lease(self):
        """a stored lease that can't be read ends the start, unless it is to be skipped"""
        self.start()
        acks = self.lease_both(1)
        self.daemon.terminate()
        key = "0x" + "".join(f"{int(octet):02X}" for octet in acks[0].yiaddr.split("."))
        namespace.run("ldb", f"--db={self.daemon.data}", "--hex", "--column_family=leases", "put",
                      key, "0xFFFFFF")
        self.daemon.start(ready_seconds=0)
        self.assertEqual(self.daemon.process.wait(20), 1)
        refused = self.daemon.log().strip().splitlines()[-1]
        self.assertRegex(refused, rf"1 damaged rows.*{acks[0].yiaddr}.*--skip-damaged-leases")
        self.daemon.start(arguments=["--skip-damaged-leases"])
        self.assertIn("going on without leases that can't be read", self.daemon.log())
        again = self.lease_both(1)
        self.assertEqual(again[1].yiaddr, acks[1].yiaddr)
        self.assertEqual(self.daemon.terminate()[0], 0)
        self.assertEqual(self.daemon.leases()[acks[1].yiaddr]["state"], "bound")
        say(refused)

    def test_interrupt(self):
        """SIGINT ends it like SIGTERM"""
        self.start()
        self.daemon.process.send_signal(signal.SIGINT)
        self.assertEqual(self.daemon.process.wait(5), 0)

    def test_health_and_metrics(self):
        """/healthz, /readyz, /metrics and an unknown path"""
        self.start()
        self.lease_both(1)
        self.assertEqual([self.daemon.get(path)[0] for path in
                          ("/healthz", "/readyz", "/metrics", "/nothing")], [200, 200, 200, 404])
        for link in self.network.links:
            name = link.server_interface
            self.assertEqual(
                [self.daemon.received(interface=name, type="discover"),
                 self.daemon.replies(interface=name, type="offer"),
                 self.daemon.received(interface=name, type="request"),
                 self.daemon.replies(interface=name, type="ack")], [1, 1, 1, 1])
            self.assertEqual(self.daemon.metric("ringdhcp_packets_dropped_total",
                                                interface=name), 0)
        names = {name for name, _, _ in self.daemon.metrics()}
        for name in ("ringdhcp_kernel_receive_drops_total", "ringdhcp_commit_seconds_bucket",
                     "ringdhcp_commit_seconds_sum", "ringdhcp_packets_dropped_total"):
            self.assertIn(name, names)
        self.assertGreaterEqual(self.daemon.metric("ringdhcp_commit_seconds_count"), 2)
        say(f"{len(names)} metric names; counts agree with what was sent")

    def test_second_server_on_the_data(self):
        """a second server on the same data is refused and told the first one's number"""
        self.start()
        other = namespace.Network(links=2)
        second = server.Server(self, other, storage=self.daemon.config["storage"])
        second.start(ready_seconds=0)
        self.assertEqual(second.process.wait(5), 1)
        self.assertIn(self.daemon.data, second.log())
        self.assertIn(str(self.daemon.pid), second.log())
        say(second.log().strip().splitlines()[-1][-200:])
        self.lease_both(1)
        self.daemon.kill()
        second.start()
        say("after the first one was killed, the second starts on the data")

    def test_json_log(self):
        """every line of the JSON log is an object with time, level and message"""
        self.start(log={"level": "debug", "format": "json"})
        self.lease_both(1)
        name = self.network.links[1].server_interface
        namespace.ip_in(self.network.server_namespace, "link", "set", name, "down")
        time.sleep(0.3)
        self.assertEqual(self.daemon.terminate()[0], 0)
        lines = [json.loads(line) for line in self.daemon.log().splitlines()]
        self.assertGreater(len(lines), 3)
        for line in lines:
            self.assertLessEqual({"time", "level", "message"}, set(line))
        say(f"{len(lines)} lines, the first: {lines[0]['message']}")

    def test_hangup(self):
        """SIGHUP and SIGPIPE do not end it"""
        self.start()
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGHUP):
            self.daemon.process.send_signal(number)
        time.sleep(0.3)
        self.assertTrue(self.daemon.running())
        self.lease_both(1)

    def test_stopped_and_continued(self):
        """SIGSTOP with packets arriving, then SIGCONT: new clients are served at once"""
        self.start()
        self.lease_both(1)
        self.daemon.process.send_signal(signal.SIGSTOP)
        for number in range(300):
            self.ports[0].acquire(packet_port.mac_of(1000 + number), 0.005, 1)
        time.sleep(0.5)
        self.daemon.process.send_signal(signal.SIGCONT)
        start = time.monotonic()
        self.lease_both(2)
        say(f"served {time.monotonic() - start:.2f} s after SIGCONT")

    def test_port_of_http_taken(self):
        """http.listen taken: it says which address and ends"""
        self.start()
        second = server.Server(self, self.network)
        second.start(ready_seconds=0)
        self.assertEqual(second.process.wait(5), 1)
        self.assertIn("127.0.0.1:9547", second.log())
        say(second.log().strip().splitlines()[-1][-160:])

    def test_idle_costs_little(self):
        """without packets it sleeps"""
        self.start()
        self.lease_both(1)

        def cpu_seconds():
            with open(f"/proc/{self.daemon.pid}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        before = cpu_seconds()
        wait_until(lambda: False, 2, 1)
        used = (cpu_seconds() - before) / 2
        say(f"idle: {100 * used:.1f} % of a CPU, {self.daemon.rss_kib()} KiB resident")
        self.assertLess(used, 0.1)


if __name__ == "__main__":
    system_test.main(timeout_seconds=60)
