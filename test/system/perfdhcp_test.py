"""Load by perfdhcp on two interfaces at once: rates, losses, duplicates, and each one's share.

The full run: perfdhcp_test.py --server PROGRAM --rate 5000 --seconds 20 --limit 200
"""

import ipaddress
import os

import namespace
import perfdhcp
import server
import system_test
from system_test import options, say

QUIET_RATE = 200


class PerfdhcpTest(system_test.SystemTest):
    """Two interfaces, each with a perfdhcp of its own."""

    def start(self, pool_size):
        """A server with two links and pools of this many addresses."""
        network = namespace.Network(links=2, prefix_length=12)
        subnets = []
        for link in network.links:
            link.add_client_address()
            subnet = server.subnet_of(link)
            first = ipaddress.ip_address(f"{link.stem}.1.0")
            subnet["pools"] = [f"{first}-{first + pool_size - 1}"]
            subnets.append(subnet)
        daemon = server.Server(self, network, subnets=subnets, lease_times={
            "min": 1, "default": 3600, "max": 3600})
        return network, daemon.start(ready_seconds=30)

    def report(self, daemon, link, result, seconds):
        """Prints one interface's numbers; returns ACKs per second."""
        acks = result.received["ACK"] / seconds
        name = link.server_interface
        dropped = {labels["reason"]: int(value) for metric, labels, value in daemon.metrics()
                   if metric == "ringdhcp_packets_dropped_total" and value
                   and labels.get("interface") == name}
        kernel = daemon.metric("ringdhcp_kernel_receive_drops_total", interface=name)
        say(f"{name}: DISCOVER {result.sent['DISCOVER'] / seconds:.0f}/s, ACK {acks:.0f}/s, "
            f"lost {result.drop_percent('DISCOVER', 'OFFER'):.2f} % of DISCOVERs and "
            f"{result.drop_percent('REQUEST', 'ACK'):.2f} % of REQUESTs, "
            f"duplicates {result.duplicates}, REQUEST to ACK {result.average_ms:.2f} ms average "
            f"{result.maximum_ms:.1f} ms worst; kernel drops {kernel:.0f}, server drops {dropped}; "
            f"perfdhcp's own kernel drops {namespace.udp_buffer_drops(link.client_namespace)}")
        return acks

    def test_even_load(self):
        """the same rate on both: both keep up, no address twice"""
        rate, seconds = options.rate, options.seconds
        clients = rate * seconds * 5 // 4
        network, daemon = self.start(pool_size=clients + 1000)
        runs = [perfdhcp.Run(link, seconds, rate, clients, unique=True) for link in network.links]
        results = [run.result() for run in runs]
        acks = [self.report(daemon, link, result, seconds)
                for link, result in zip(network.links, results)]
        say(f"asked for {rate}/s on each interface; load average {os.getloadavg()[0]:.1f} on "
            f"{os.cpu_count()} CPUs (perfdhcp sends less than asked where it gets too little CPU)")
        self.assertTrue(daemon.running())
        self.assertEqual([r.duplicates for r in results], [0, 0])
        for result in results:
            self.assertLess(result.drop_percent("DISCOVER", "OFFER"), options.loss)
            self.assertLess(result.drop_percent("REQUEST", "ACK"), options.loss)
        self.assertGreater(min(acks), 0.9 * max(acks), "one interface got less than its share")
        self.check_store(daemon, results)

    def check_store(self, daemon, results):
        """Every ACK that arrived is in the store, each for another client."""
        self.assertEqual(daemon.terminate(30)[0], 0)
        bound = [row for row in daemon.leases().values() if row["state"] == "bound"]
        clients = {server.mac_in(row) for row in bound}
        promised = sum(result.received["ACK"] for result in results)
        say(f"ACKs received {promised}, bound leases stored {len(bound)}")
        self.assertEqual(len(clients), len(bound), "a client holds two addresses")
        self.assertGreaterEqual(len(bound), promised)

    def test_quiet_interface_beside_flooded_one(self):
        """one interface offered all perfdhcp can send: the other loses nothing"""
        seconds = min(options.seconds, 5)
        network, daemon = self.start(pool_size=40000)
        flood = perfdhcp.Run(network.links[0], seconds, None, 30000)
        quiet = perfdhcp.Run(network.links[1], seconds, QUIET_RATE, QUIET_RATE * seconds * 2)
        results = [flood.result(), quiet.result()]
        for link, result in zip(network.links, results):
            self.report(daemon, link, result, seconds)
        self.assertTrue(daemon.running())
        self.assertLess(results[1].drop_percent("DISCOVER", "OFFER"), options.loss)
        self.assertLess(results[1].drop_percent("REQUEST", "ACK"), options.loss)
        self.assertGreater(results[0].received["ACK"], 0, "the flooded interface got nothing")


if __name__ == "__main__":
    system_test.main(timeout_seconds=80, rate=1000, seconds=5, loss=5.0)
