"""Interfaces come, go, change name, address and state: each is served within two seconds."""

import time

import namespace
import packet_port
import server
import system_test
from system_test import say, wait_until

LIMIT_SECONDS = 2.0


class HotplugTest(system_test.SystemTest):
    """Interface 0 stays and has to be served all the time; interface 1 is the one that changes."""

    def start(self, links=2, **changes):
        """A server on lan0, lan1 and more names that may not exist yet."""
        self.network = namespace.Network(links=links)
        self.number = 0
        subnets = changes.pop("subnets", None)
        if subnets is None:
            subnets = [server.subnet_of(link) for link in self.network.links]
        self.daemon = server.Server(self, self.network, subnets=subnets, interfaces={
            "include": ["lan*"]}, **changes).start()
        self.steady = self.port(self.network.links[0])

    @staticmethod
    def port(link):
        """A packet socket on the client's end of a link."""
        return packet_port.Port(link.client_namespace, link.client_interface)

    def served(self, link, what, limit=LIMIT_SECONDS, stem=None):
        """A new client gets a lease on the link within the limit, and one on interface 0 too."""
        port = self.port(link)
        start = time.monotonic()
        self.number += 1
        mac = packet_port.mac_of(self.number, link.index)
        ack = port.acquire(mac, limit, tries=int(limit / 0.1))
        taken = time.monotonic() - start
        self.assertIsNotNone(ack, f"{what}: not served within {limit} s")
        self.assertLess(taken, limit, what)
        self.assertTrue(ack.yiaddr.startswith((stem or link.stem) + "."), ack.yiaddr)
        port.close()
        other = self.steady.acquire(packet_port.mac_of(1000 + self.number), 1, 4)
        self.assertIsNotNone(other, f"{what}: interface 0 is not served any more")
        say(f"{what}: served after {taken:.2f} s")
        return ack

    def test_created_deleted_created_again(self):
        """absent at start, created, deleted, created again under the same name"""
        self.network = namespace.Network(links=1)
        self.number = 0
        late = namespace.Link(1, self.network.server_namespace, "lan1",
                              self.network.add_namespace("client1"), "eth0")
        subnets = [server.subnet_of(link) for link in (self.network.links[0], late)]
        self.daemon = server.Server(self, self.network, subnets=subnets, interfaces={
            "include": ["lan0", "lan1"]}).start()
        self.steady = self.port(self.network.links[0])
        for number in range(3):
            late.create()
            late.configure_server()
            self.served(late, f"created {'again' if number else 'after the start'}")
            late.delete()
            time.sleep(0.2)
            self.assertIsNotNone(self.steady.acquire(packet_port.mac_of(500 + number)))
        self.assertTrue(self.daemon.running())

    def test_no_interface_at_start(self):
        """nothing to serve at the start: it waits and says so; then the interface comes"""
        network = namespace.Network(links=0)
        late = [namespace.Link(index, network.server_namespace, f"lan{index}",
                               network.add_namespace(f"client{index}"), "eth0")
                for index in range(2)]
        daemon = server.Server(self, network, subnets=[server.subnet_of(link) for link in late],
                               interfaces={"include": ["lan0", "lan1"]})
        daemon.start(ready_seconds=0)
        self.assertTrue(wait_until(lambda: daemon.get("/readyz")[0] == 503, 5))
        time.sleep(0.5)
        status, body = daemon.get("/readyz")
        self.assertEqual((status, daemon.running()), (503, True))
        self.assertIn("interface", body)
        self.number = 0
        for index, link in enumerate(late):
            link.create()
            link.configure_server()
            if index == 0:
                self.steady = self.port(link)
                self.daemon = daemon
            self.served(link, f"lan{index} appeared")
        self.assertTrue(daemon.ready())

    def test_down_and_up(self):
        """down, then up; and the peer's carrier lost, then back"""
        self.start()
        link = self.network.links[1]
        self.served(link, "at first")
        link.set_server("down")
        time.sleep(0.3)
        link.set_server("up")
        self.served(link, "down and up")
        namespace.ip_in(link.client_namespace, "link", "set", link.client_interface, "down")
        time.sleep(0.3)
        namespace.ip_in(link.client_namespace, "link", "set", link.client_interface, "up")
        self.served(link, "carrier lost and back")

    def test_renamed(self):
        """renamed to another configured name, and back"""
        self.start()
        link = self.network.links[1]
        self.served(link, "at first")
        for name in ("lan9", "lan1"):
            namespace.ip_in(link.server_namespace, "link", "set", link.server_interface, "down")
            namespace.ip_in(link.server_namespace, "link", "set", link.server_interface,
                            "name", name)
            link.server_interface = name
            link.set_server("up")
            self.served(link, f"renamed to {name}")
            self.assertTrue(wait_until(lambda n=name: self.daemon.replies(
                interface=n, type="ack") >= 1, 1), f"no metric under the name {name}")

    def test_address_changed(self):
        """the address moves to another subnet: clients get leases of that subnet"""
        self.network = namespace.Network(links=2)
        self.number = 0
        link = self.network.links[1]
        other = namespace.Link(5, "", "", "", "")
        subnets = [server.subnet_of(each) for each in (*self.network.links, other)]
        self.daemon = server.Server(self, self.network, subnets=subnets).start()
        self.steady = self.port(self.network.links[0])
        self.served(link, "at first")
        space, name = link.server_namespace, link.server_interface
        namespace.ip_in(space, "addr", "add", f"{other.server_address}/16", "brd", "+",
                        "dev", name)
        namespace.ip_in(space, "addr", "del", f"{link.server_address}/16", "dev", name)
        time.sleep(0.1)
        ack = self.served(link, "address changed", stem=other.stem)
        self.assertEqual(ack.server_identifier, other.server_address)
        namespace.ip_in(space, "addr", "add", f"{link.server_address}/16", "brd", "+", "dev", name)
        namespace.ip_in(space, "addr", "del", f"{other.server_address}/16", "dev", name)
        time.sleep(0.1)
        self.served(link, "address changed back")

    def test_without_an_address_at_first(self):
        """an interface without any address is served as soon as it has one"""
        self.network = namespace.Network(links=1)
        self.number = 0
        link = self.network.add_link()
        link.set_server("up")
        self.daemon = server.Server(self, self.network, subnets=[
            server.subnet_of(each) for each in self.network.links]).start()
        self.steady = self.port(self.network.links[0])
        self.assertIsNone(self.port(link).acquire(packet_port.mac_of(77, 1), 0.6, 2))
        link.configure_server()
        self.served(link, "first address")


if __name__ == "__main__":
    system_test.main(timeout_seconds=80)
