"""The disk of the lease store fills up, and is freed again."""

import os
import time

import cleanup
import dhcp_message as dhcp
import namespace
import packet_port
import server
import system_test
from system_test import say, wait_until

LEASE_SECONDS = 600


class StoreFullTest(system_test.SystemTest):
    """The data directory is a small tmpfs; two interfaces."""

    def start(self):
        """A server on a tmpfs. With cache_threshold 0 every renewal is a write."""
        self.network = namespace.Network(links=2)
        work = server.work_directory()
        self.data = os.path.join(work, "small")
        os.mkdir(self.data)
        namespace.run("mount", "-t", "tmpfs", "-o", "size=16m", "ringtest", self.data)
        cleanup.push(lambda: namespace.run("umount", "-l", self.data))
        self.daemon = server.Server(self, self.network, cache_threshold=0.0, lease_times={
            "min": 1, "default": LEASE_SECONDS, "max": LEASE_SECONDS},
            storage={"type": "local", "directory": self.data}).start()
        self.ports = [packet_port.Port(link.client_namespace, link.client_interface)
                      for link in self.network.links]
        self.promises = {}  # address: (link index, MAC, end)

    def lease(self, index, number, seconds=2.0):
        """A new client's ACK or None; noted as a promise."""
        mac = packet_port.mac_of(number, index)
        begin = time.time()
        ack = self.ports[index].acquire(mac, seconds)
        if ack is not None:
            self.promises[ack.yiaddr] = (index, mac, begin + ack.lease_time)
        return ack

    def renew(self, address):
        """A renewal's ACK or None; noted as a promise."""
        index, mac, _ = self.promises[address]
        link = self.network.links[index]
        begin = time.time()
        ack = self.ports[index].renew(mac, address, link.server_address, link.server_mac)
        if ack is not None and ack.type == dhcp.ACK:
            self.promises[address] = (index, mac, begin + ack.lease_time)
        return ack

    def fill(self):
        """Takes every free octet of the tmpfs, again and again; returns the file that has them."""
        path = os.path.join(self.data, "filler")
        with open(path, "ab", buffering=0) as file:
            for size in (1 << 16, 4096):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError as error:
                    self.assertEqual(error.errno, 28)  # ENOSPC
        return path

    def test_full_and_free_again(self):
        """full: no new leases, renewals by what is durable, 503; free: all as before"""
        self.start()
        early = [self.lease(index, number).yiaddr for index in (0, 1) for number in (1, 2, 3)]
        time.sleep(2.1)
        given = 0
        for number in range(100, 1000):
            # Again each time: the server reopens the store, and that frees a few pages.
            filler = self.fill()
            if self.lease(number % 2, number, 1.0) is None:
                break
            given += 1
        say(f"disk filled with {os.path.getsize(filler) >> 10} KiB")
        self.assertTrue(wait_until(lambda: not self.daemon.ready(), 3), "still ready")
        status, body = self.daemon.get("/readyz")
        say(f"{given} more leases fitted; readyz {status}: {body.strip()}")
        self.assertEqual(status, 503)
        self.assertIn("store", body)
        self.assertEqual(self.daemon.get("/healthz")[0], 200)
        self.check_while_full(early)

        os.unlink(filler)
        start = time.monotonic()
        self.assertTrue(wait_until(self.daemon.ready, 5), "not ready after space was freed")
        say(f"ready {time.monotonic() - start:.2f} s after space was freed")
        for index in (0, 1):
            self.assertIsNotNone(self.lease(index, 900 + index), "no new lease after all")
        for address in early:
            ack = self.renew(address)
            self.assertEqual((ack.type, ack.lease_time), (dhcp.ACK, LEASE_SECONDS))
        self.check_store()

    def check_while_full(self, early):
        """The log is clear and short, new clients get no ACK, old ones their remaining time."""
        lines = [line for line in self.daemon.log().splitlines() if "space" in line]
        self.assertTrue(lines, "the log does not say that the disk is full")
        say(lines[0][-160:])
        self.assertIsNone(self.lease(0, 800, 1.0), "a new lease on a full disk")
        self.assertIsNone(self.lease(1, 801, 1.0), "a new lease on a full disk")
        for address in early:
            end = self.promises[address][2]
            ack = self.renew(address)
            self.assertIsNotNone(ack, f"the renewal of {address} was not answered")
            self.assertEqual((ack.type, ack.yiaddr), (dhcp.ACK, address))
            self.assertLessEqual(time.time() + ack.lease_time, end + 2, "more than is durable")
            self.assertGreater(ack.lease_time, LEASE_SECONDS - 60)
        failures = self.daemon.metric("ringdhcp_commit_failures_total")
        refused = self.daemon.metric("ringdhcp_packets_dropped_total", reason="store_unavailable")
        say(f"{len(early)} renewals answered with their remaining time; {refused:.0f} messages of "
            f"new clients dropped as store_unavailable; {failures:.0f} failed commits")
        self.assertLess(len(lines), 10, "the log repeats itself")

    def check_store(self):
        """Nothing that was acknowledged is lost."""
        self.assertEqual(self.daemon.terminate()[0], 0)
        rows = self.daemon.leases()
        for address, (_, mac, end) in self.promises.items():
            self.assertIn(address, rows)
            self.assertEqual((rows[address]["state"], server.mac_in(rows[address])),
                             ("bound", mac))
            self.assertGreaterEqual(rows[address]["expires"] + 1, end)
        say(f"all {len(self.promises)} acknowledged leases are stored")


if __name__ == "__main__":
    system_test.main(timeout_seconds=60)
