"""A client behind ISC dhcrelay that adds option 82 (RFC 3046), next to one on a local link."""

import os
import subprocess

import cleanup
import dhcp_message as dhcp
import namespace
import packet_port
import real_clients
import server
import system_test
from system_test import say, wait_until

RELAYED_PREFIX = "10.200.7.0/24"
RELAY_ADDRESS = "10.200.7.1"


class RelayTest(system_test.SystemTest):
    """Interface 0 leads to the relay, interface 1 to a local client."""

    def set_up_relay(self, network):
        """A relay on link 0 with a client link behind it; returns the client's namespace."""
        uplink = network.links[0]
        relay = uplink.client_namespace
        uplink.add_client_address()
        space = network.add_namespace("behind")
        namespace.run("ip", "link", "add", "down0", "netns", relay, "type", "veth",
                      "peer", "name", "eth0", "netns", space)
        namespace.ip_in(relay, "addr", "add", f"{RELAY_ADDRESS}/24", "brd", "+", "dev", "down0")
        namespace.ip_in(relay, "link", "set", "down0", "up")
        namespace.ip_in(space, "link", "set", "eth0", "up")
        namespace.run("ip", "netns", "exec", relay, "sysctl", "-q", "net.ipv4.ip_forward=1")
        namespace.ip_in(network.server_namespace, "route", "add", RELAYED_PREFIX,
                        "via", uplink.client_address)
        log_path = os.path.join(server.work_directory(), "log")
        with open(log_path, "wb") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", relay, "dhcrelay", "-4", "-d", "-a", "--no-pid",
                 "-id", "down0", "-iu", uplink.client_interface, uplink.server_address],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        cleanup.push(process.wait)
        cleanup.push(process.kill)
        self.show_on_failure(lambda: namespace.run("tail", "-n", "40", log_path))
        return space

    def test_relayed_and_local_client(self):
        """the relayed client gets an address of its subnet, renews, and option 82 is stored"""
        network = namespace.Network(links=2)
        space = self.set_up_relay(network)
        subnets = [server.subnet_of(link) for link in network.links]
        subnets.append({"id": 77, "prefix": RELAYED_PREFIX,
                        "pools": ["10.200.7.100-10.200.7.120"],
                        "options": {"routers": [RELAY_ADDRESS]}})
        daemon = server.Server(self, network, subnets=subnets, lease_times={
            "min": 1, "default": 30, "max": 30, "t1": 0.1, "t2": 0.8}).start()
        relayed = real_clients.Dhclient(self, space=space, interface="eth0").start()
        local = real_clients.Udhcpc(self, network.links[1]).start()
        address = relayed.wait_address(8)
        self.assertIsNotNone(address, "no address through the relay")
        self.assertRegex(address, r"^10\.200\.7\.1[012]\d$")
        self.assertTrue((local.wait_address(4) or "").startswith(network.links[1].stem))
        say(f"relayed {address}, local {local.address()}")

        # The renewal comes from the client itself, routed: its subnet follows from ciaddr.
        namespace.ip_in(space, "route", "add", "default", "via", RELAY_ADDRESS)
        self.assertTrue(wait_until(lambda: "RENEW" in relayed.events(), 10),
                        f"no renewal, events {relayed.events()}")
        self.assertEqual(relayed.address(), address)
        say("renewed by routed unicast")

        self.assertEqual(daemon.terminate()[0], 0)
        row = daemon.leases()[address]
        self.assertEqual((row["state"], row["subnet"]), ("bound", 77))
        # Sub-option 1, the circuit id, is the name of the relay's interface (dhcrelay(8), -a).
        self.assertIn(b"\x01\x05down0", bytes.fromhex(row["relay_information"]))
        say(f"stored relay information {row['relay_information']}")

    def test_duplicate_from_a_relay(self):
        """a relayed DISCOVER arrives twice: one address, each answered to giaddr, port 67"""
        network = namespace.Network(links=2)
        daemon = server.Server(self, network).start()
        ports = []
        for link in network.links:
            link.add_client_address()
            ports.append(packet_port.Port(link.client_namespace, link.client_interface))
        giaddr = network.links[0].client_address
        mac = packet_port.mac_of(5)
        message = dhcp.request_of(dhcp.DISCOVER, packet_port.new_xid(), mac, giaddr=giaddr, hops=1,
                                  options=[(82, b"\x01\x02ab\x97\x03xyz")])
        offers = []
        for _ in range(2):
            link = network.links[0]
            ports[0].send(message, source=giaddr, source_port=67, source_mac=link.client_mac,
                          destination=link.server_address, destination_mac=link.server_mac)
            reply = ports[0].expect(message.xid, (dhcp.OFFER,), 2)
            self.assertIsNotNone(reply, "no OFFER to the relay")
            self.assertEqual((reply.destination, reply.destination_port), (giaddr, 67))
            # RFC 3046 section 2.2: echoed unchanged, the last option.
            self.assertEqual(reply.message.options[-1], (82, b"\x01\x02ab\x97\x03xyz"))
            offers.append(reply.message.yiaddr)
        self.assertEqual(len(set(offers)), 1, f"two addresses for one client: {offers}")
        self.assertEqual(ports[1].drain(), [], "a reply left by the other interface")
        say(f"both answered with {offers[0]} to {giaddr}:67, option 82 unchanged and last")


if __name__ == "__main__":
    system_test.main(timeout_seconds=50)
