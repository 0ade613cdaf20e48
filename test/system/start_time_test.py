"""A client that starts together with the server has its lease within three seconds."""

import time

import namespace
import packet_port
import real_clients
import server
import system_test
from system_test import say

LIMIT_SECONDS = 3.0


class StartTimeTest(system_test.SystemTest):
    """Start of the server to bound client, on two interfaces."""

    def test_dhclient_is_bound_within_three_seconds(self):
        """dhclient is started at the same moment as the server"""
        network = namespace.Network(links=2)
        daemon = server.Server(self, network)
        clients = [real_clients.Dhclient(self, link) for link in network.links]
        start = time.monotonic()
        daemon.start(ready_seconds=0)
        for client in clients:
            client.start()
        for client in clients:
            self.assertTrue(client.wait_address(LIMIT_SECONDS + 1), f"{client} got no address")
            taken = time.monotonic() - start
            say(f"{client}: address {client.address()} {taken:.2f} s after the server's start")
            self.assertLess(taken, LIMIT_SECONDS)
        self.assertEqual(daemon.replies(type="ack"), 2)

    def test_restart_serves_stored_leases_at_once(self):
        """After a restart the first REQUEST is answered from the store"""
        network = namespace.Network(links=2)
        daemon = server.Server(self, network).start()
        link = network.links[0]
        port = packet_port.Port(link.client_namespace, link.client_interface)
        mac = packet_port.mac_of(1)
        ack = port.acquire(mac)
        self.assertIsNotNone(ack)
        self.assertEqual(daemon.terminate()[0], 0)
        start = time.monotonic()
        daemon.start()
        again = port.renew(mac, ack.yiaddr, link.server_address, link.server_mac)
        self.assertIsNotNone(again, "no answer to the renewal")
        self.assertEqual((again.type, again.yiaddr), (5, ack.yiaddr))
        say(f"restart to renewed lease: {time.monotonic() - start:.2f} s")


if __name__ == "__main__":
    system_test.main(timeout_seconds=50)
