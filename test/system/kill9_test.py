"""An ACK is a promise: SIGKILL under load, then every promise is found in the store.

Longer: kill9_test.py --server PROGRAM --rounds 20 --limit 200
"""

import random
import time

import dhcp_message as dhcp
import namespace
import packet_port
import promise_load
import server
import system_test
from system_test import options, say


class Kill9Test(system_test.SystemTest):
    """Load on two interfaces; the server dies at a random moment, again and again."""

    def run_load(self, loads, seconds):
        """Both loads by turns for some seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for load in loads:
                load.step()
            time.sleep(0.0005)

    def check(self, daemon, loads, what):
        """The stored leases keep every live promise, and nobody was promised another's."""
        for load in loads:
            load.settle()
        rows = daemon.leases()
        broken = [text for load in loads for text in load.unkept(rows) + load.violations]
        live = sum(end > time.time() for load in loads for _, end in load.promises.values())
        counts = {key: sum(load.counts[key] for load in loads) for key in loads[0].counts}
        say(f"{what}: {live} live promises, {len(rows)} rows stored, {len(broken)} broken; "
            f"so far {counts}")
        self.assertEqual(broken[:10], [], f"{len(broken)} broken promises")

    def test_no_promise_is_broken(self):
        """killed with SIGKILL under load and restarted; every ACK is kept"""
        seed = options.seed or time.time_ns() % 100000
        say(f"seed {seed}")
        network = namespace.Network(links=2)
        subnets = [server.subnet_of(link, "120.255") for link in network.links]
        daemon = server.Server(self, network, subnets=subnets)
        loads = [promise_load.PromiseLoad(link, seed + link.index) for link in network.links]
        moment = random.Random(seed)
        for number in range(1, options.rounds + 1):
            start = time.monotonic()
            daemon.start()
            ready = time.monotonic() - start
            before = sum(load.counts["ack"] for load in loads)
            self.run_load(loads, moment.uniform(0.7, 1.7))
            daemon.kill()
            acks = sum(load.counts["ack"] for load in loads) - before
            self.assertGreater(acks, 0, "no ACK in this round")
            self.check(daemon, loads, f"round {number} (ready in {ready:.2f} s, {acks} ACKs)")
        daemon.start()
        self.run_load(loads, 1.0)
        self.assertEqual(daemon.terminate()[0], 0)
        self.check(daemon, loads, "after SIGTERM")

    def test_renewal_after_a_crash_promises_what_is_stored(self):
        """after a crash, an ACK without a write ends when the stored lease ends"""
        network = namespace.Network(links=2)
        daemon = server.Server(self, network).start()
        link = network.links[1]
        port = packet_port.Port(link.client_namespace, link.client_interface)
        mac = packet_port.mac_of(1)
        address = port.acquire(mac).yiaddr
        for _ in range(3):
            daemon.kill()
            stored = daemon.leases()[address]
            daemon.start()
            worst = 0.0
            for _ in range(12):  # at different fractions of a second
                begin = time.time()
                ack = port.renew(mac, address, link.server_address, link.server_mac)
                self.assertEqual((ack.type, ack.yiaddr), (dhcp.ACK, address))
                worst = max(worst, begin + ack.lease_time)
                time.sleep(0.09)
            daemon.kill()
            now = daemon.leases()[address]
            say(f"version {stored['version']} -> {now['version']}: promised until "
                f"{worst - now['expires']:.2f} s after the stored second")
            # The store keeps whole seconds: the lease ends within the one after `expires`.
            self.assertLessEqual(worst, now["expires"] + 1)
            daemon.start()


if __name__ == "__main__":
    system_test.main(timeout_seconds=60, rounds=3, seed=0)
