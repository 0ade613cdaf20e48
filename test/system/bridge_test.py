"""Stacked interfaces: a bridge with ports, macvlan, VLAN and bond, next to a plain one."""

import namespace
import packet_port
import real_clients
import server
import system_test
from system_test import say


class BridgeTest(system_test.SystemTest):
    """Interface lan0 is plain and has to be served throughout."""

    def kernel_has(self, *arguments):
        """Whether the kernel can make this kind of interface; tried in a namespace of its own."""
        try:
            namespace.ip_in(self.network.server_namespace, "link", "add", "trial", *arguments)
        except RuntimeError as error:
            cause = str(error).rsplit("Error: ", maxsplit=1)[-1]
            say(f"skipped, the kernel lacks it: {' '.join(arguments)}: {cause}")
            return False
        namespace.ip_in(self.network.server_namespace, "link", "del", "trial")
        return True

    def serve(self, name, index):
        """A server on lan0 and on the interface `name`, which gets the address of `index`."""
        link = namespace.Link(index, self.network.server_namespace, name, "", "")
        link.configure_server()
        subnets = [server.subnet_of(self.network.links[0]), server.subnet_of(link)]
        self.daemon = server.Server(self, self.network, subnets=subnets, interfaces={
            "include": ["lan0", name]}).start()
        return link

    def client_gets(self, space, interface, stem, number=None):
        """A client of ours gets a lease of the network `stem`; no number: the interface's MAC."""
        port = packet_port.Port(space, interface)
        mac = packet_port.mac_of(number, 7) if number \
            else namespace.hardware_address(space, interface)
        ack = port.acquire(mac)
        self.assertIsNotNone(ack, f"no lease on {space}/{interface}")
        self.assertTrue(ack.yiaddr.startswith(stem + "."), ack.yiaddr)
        return ack

    def test_bridge_with_two_ports(self):
        """clients behind two ports of a bridge are served on the bridge, once each"""
        self.network = namespace.Network(links=1)
        space = self.network.server_namespace
        namespace.ip_in(space, "link", "add", "br0", "type", "bridge", "stp_state", "0",
                        "forward_delay", "0")
        ports = [self.network.add_link() for _ in range(2)]
        for link in ports:
            namespace.ip_in(space, "link", "set", link.server_interface, "master", "br0")
            link.set_server("up")
        bridge = self.serve("br0", 6)
        client = real_clients.Dhclient(self, ports[0]).start()
        self.assertTrue((client.wait_address(6) or "").startswith(bridge.stem + "."))
        ack = self.client_gets(ports[1].client_namespace, "eth0", bridge.stem, 1)
        self.assertNotEqual(ack.yiaddr, client.address())
        plain = self.network.links[0]
        self.client_gets(plain.client_namespace, "eth0", plain.stem, 2)
        discovers = self.daemon.received(interface="br0", type="discover")
        offers = self.daemon.replies(interface="br0", type="offer")
        say(f"bridge: {client.address()} by dhclient, {ack.yiaddr}; "
            f"{discovers:.0f} DISCOVER, {offers:.0f} OFFER on br0")
        self.assertEqual(discovers, offers)

        # A port that joins later, and one that leaves and comes back.
        late = self.network.add_link()
        namespace.ip_in(space, "link", "set", late.server_interface, "master", "br0")
        late.set_server("up")
        self.client_gets(late.client_namespace, "eth0", bridge.stem, 3)
        namespace.ip_in(space, "link", "set", ports[1].server_interface, "nomaster")
        namespace.ip_in(space, "link", "set", ports[1].server_interface, "master", "br0")
        self.client_gets(ports[1].client_namespace, "eth0", bridge.stem, 4)
        say("bridge: served after a port joined and one left and came back")

    def test_macvlan(self):
        """two macvlans on one lower interface, the server on one, a client on the other"""
        self.network = namespace.Network(links=1)
        space = self.network.server_namespace
        lower = self.network.add_link()
        lower.set_server("up")
        if not self.kernel_has("link", lower.server_interface, "type", "macvlan"):
            return
        namespace.ip_in(space, "link", "add", "mac0", "link", lower.server_interface,
                        "type", "macvlan", "mode", "bridge")
        beside = self.network.add_namespace("beside")
        namespace.run("ip", "-n", space, "link", "add", "mac1", "link", lower.server_interface,
                      "netns", beside, "type", "macvlan", "mode", "bridge")
        namespace.ip_in(beside, "link", "set", "mac1", "up")
        macvlan = self.serve("mac0", 6)
        first = self.client_gets(beside, "mac1", macvlan.stem)
        second = self.client_gets(lower.client_namespace, "eth0", macvlan.stem, 2)
        client = real_clients.Udhcpc(self, space=beside, interface="mac1").start()
        self.assertTrue((client.wait_address(6) or "").startswith(macvlan.stem + "."))
        plain = self.network.links[0]
        self.client_gets(plain.client_namespace, "eth0", plain.stem, 3)
        say(f"macvlan: {first.yiaddr} from the neighbour macvlan, {second.yiaddr} from outside, "
            f"{client.address()} by udhcpc")

    def test_vlan(self):
        """two VLANs of one interface: each its subnet"""
        self.network = namespace.Network(links=1)
        trunk = self.network.add_link()
        trunk.set_server("up")
        if not self.kernel_has("link", trunk.server_interface, "type", "vlan", "id", "9"):
            return
        for space, lower in ((self.network.server_namespace, trunk.server_interface),
                             (trunk.client_namespace, "eth0")):
            namespace.ip_in(space, "link", "add", "vlan7", "link", lower, "type", "vlan",
                            "id", "7")
        namespace.ip_in(trunk.client_namespace, "link", "set", "vlan7", "up")
        vlan = self.serve("vlan7", 6)
        ack = self.client_gets(trunk.client_namespace, "vlan7", vlan.stem, 1)
        say(f"VLAN 7: {ack.yiaddr}")

    def test_bond(self):
        """a bond of two interfaces is served on the bond"""
        self.network = namespace.Network(links=1)
        if not self.kernel_has("type", "bond", "mode", "active-backup"):
            return
        space = self.network.server_namespace
        namespace.ip_in(space, "link", "add", "bond0", "type", "bond", "mode", "active-backup")
        member = self.network.add_link()
        namespace.ip_in(space, "link", "set", member.server_interface, "master", "bond0")
        bond = self.serve("bond0", 6)
        ack = self.client_gets(member.client_namespace, "eth0", bond.stem, 1)
        say(f"bond: {ack.yiaddr}")


if __name__ == "__main__":
    system_test.main(timeout_seconds=50)
