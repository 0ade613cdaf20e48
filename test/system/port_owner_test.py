"""Port 67 taken by another process: the log names it, and the server serves when it is gone."""

import subprocess
import sys
import time

import cleanup
import namespace
import packet_port
import server
import system_test
from system_test import say, wait_until

# Takes port 67 on the interface given, or on all, and says so.
_OWNER = """
import socket, sys, time
taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1]:
    taken.setsockopt(socket.SOL_SOCKET, 25, sys.argv[1].encode())
taken.bind(("", 67))
print("bound", flush=True)
time.sleep(60)
"""


class PortOwnerTest(system_test.SystemTest):
    """Two interfaces."""

    def take_port(self, network, interface):
        """A process that has port 67 in the server's namespace."""
        process = subprocess.Popen(
            ["ip", "netns", "exec", network.server_namespace, sys.executable, "-c", _OWNER,
             interface], stdout=subprocess.PIPE, text=True)
        cleanup.push(process.stdout.close)
        cleanup.push(process.wait)
        cleanup.push(process.kill)
        self.assertEqual(process.stdout.readline(), "bound\n")
        return process

    def lease_on(self, link, number, seconds=2.0):
        """A new client's ACK on a link, or None."""
        port = packet_port.Port(link.client_namespace, link.client_interface)
        try:
            return port.acquire(packet_port.mac_of(number, link.index), seconds,
                                int(seconds / 0.1))
        finally:
            port.close()

    def test_port_taken_on_every_interface(self):
        """taken everywhere: named by number and name, not ready; served when the owner ends"""
        network = namespace.Network(links=2)
        owner = self.take_port(network, "")
        daemon = server.Server(self, network).start(ready_seconds=0)
        named = wait_until(lambda: str(owner.pid) in daemon.log(), 5)
        self.assertTrue(named, "the owner of port 67 is not named in the log")
        line = next(line for line in daemon.log().splitlines() if str(owner.pid) in line)
        say(line[-200:])
        self.assertIn("python", line)
        self.assertIn("67", line)
        self.assertEqual(daemon.get("/readyz")[0], 503)
        time.sleep(1.0)
        self.assertTrue(daemon.running(), "it gave up")
        self.assertLess(daemon.log().count(str(owner.pid)), 8, "one line per try fills the log")
        owner.kill()
        owner.wait()
        start = time.monotonic()
        for link in network.links:
            self.assertIsNotNone(self.lease_on(link, 1), "not served after the owner's end")
        say(f"both interfaces served {time.monotonic() - start:.2f} s after the owner's end")
        self.assertTrue(daemon.ready())

    def test_port_taken_on_one_interface(self):
        """taken on one interface: the other is served meanwhile"""
        network = namespace.Network(links=2)
        owner = self.take_port(network, "lan0")
        daemon = server.Server(self, network).start()
        self.assertIsNotNone(self.lease_on(network.links[1], 1), "the free interface")
        self.assertIsNone(self.lease_on(network.links[0], 1, 0.5))
        self.assertTrue(wait_until(lambda: str(owner.pid) in daemon.log(), 5))
        owner.kill()
        owner.wait()
        start = time.monotonic()
        self.assertIsNotNone(self.lease_on(network.links[0], 2), "the freed interface")
        say(f"other interface served meanwhile; this one {time.monotonic() - start:.2f} s after")


if __name__ == "__main__":
    system_test.main(timeout_seconds=40)
