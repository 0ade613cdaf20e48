"""dhclient, udhcpc and dhcpcd get, renew, rebind and release their leases (RFC 2131 figure 5)."""

import threading

import cleanup
import dhcp_message as dhcp
import namespace
import packet_port
import real_clients
import server
import system_test
from system_test import say, wait_until

# dhcpcd takes no lease below 20 s. udhcpc takes none below 122 s and no T1 or T2: it is asked.
LEASE_TIMES = {"min": 1, "default": 20, "max": 20, "t1": 0.1, "t2": 0.3}


class Capture:
    """The DHCP messages one client sends, counted by kind."""

    def __init__(self, link):
        self._port = packet_port.Port(link.client_namespace, link.client_interface, outgoing=True)
        self.sent = {}
        self._stop = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()
        cleanup.push(self.close)

    @staticmethod
    def kind(datagram):
        """The name of what a client sent, by RFC 2131 table 4."""
        message = datagram.message
        if message.type == dhcp.REQUEST and message.ciaddr != dhcp.ANY:
            return "rebind" if datagram.destination == dhcp.EVERYONE else "renew"
        return {dhcp.DISCOVER: "discover", dhcp.REQUEST: "request",
                dhcp.RELEASE: "release"}.get(message.type, f"type {message.type}")

    def _follow(self):
        while not self._stop:
            datagram = self._port.receive(0.1)
            if datagram and datagram.outgoing and datagram.message:
                kind = self.kind(datagram)
                self.sent[kind] = self.sent.get(kind, 0) + 1

    def close(self):
        """Stops counting."""
        self._stop = True
        self._thread.join()


class ClientsTest(system_test.SystemTest):
    """Every client on an interface of its own, all at once."""

    def start(self, kinds):
        """A server with as many interfaces as `kinds`, and the clients, started."""
        network = namespace.Network(links=len(kinds))
        daemon = server.Server(self, network, lease_times=LEASE_TIMES).start()
        clients = [kind(self, link) for kind, link in zip(kinds, network.links)]
        return network, daemon, clients

    def every(self, clients, condition, seconds, what):
        """Waits until condition(client) is true for every client."""
        late = wait_until(lambda: not [c for c in clients if not condition(c)], seconds)
        self.assertTrue(late, f"{what}: not {[str(c) for c in clients if not condition(c)]}")

    def test_four_interfaces_whole_life(self):
        """four interfaces: dhclient twice, udhcpc, dhcpcd; lease, renew, rebind, release"""
        kinds = (real_clients.Dhclient, real_clients.Udhcpc, real_clients.Dhcpcd,
                 real_clients.Dhclient)
        network, daemon, clients = self.start(kinds)
        captures = {c: Capture(link) for c, link in zip(clients, network.links)}
        for client, link in zip(clients, network.links):
            client.link = link
            client.start()
        self.every(clients, lambda c: c.address(), 6, "lease")
        held = {client: client.address() for client in clients}
        for client in clients:
            self.assertTrue(held[client].startswith(f"{client.link.stem}.1."), held[client])
        say("leased: " + ", ".join(f"{c.name} {a}" for c, a in held.items()))

        self.check_renewals(clients, captures, daemon)
        self.check_rebinds(clients, captures, daemon)
        self.assertEqual(held, {client: client.address() for client in clients})
        self.check_releases(clients, daemon, held)
        for capture in captures.values():
            capture.close()
        say("sent: " + "; ".join(f"{c.name} {captures[c].sent}" for c in clients))

    def check_renewals(self, clients, captures, daemon):
        """At T1 (udhcpc: on SIGUSR1), unicast to the server; each is acknowledged."""
        for client in clients:
            client.ask_renewal()
        self.every(clients, lambda c: captures[c].sent.get("renew"), 6, "renew")
        self.every(clients, lambda c: daemon.replies(
            interface=c.link.server_interface, type="ack") >= 2, 1, "ACK of the renewal")
        say("renewed: every client, by unicast")

    def check_rebinds(self, clients, captures, daemon):
        """What they send to the server's address is lost: they broadcast and are acknowledged."""
        # A wrong neighbour rather than a blackhole route: udhcpc's socket is bound to the device
        # and gets past such a route.
        for client in clients:
            namespace.ip_in(client.space, "neigh", "replace", client.link.server_address, "lladdr",
                            "02:00:00:00:00:09", "nud", "permanent", "dev", client.interface)
        before = {c: daemon.replies(interface=c.link.server_interface, type="ack")
                  for c in clients}
        for client in clients:
            client.ask_renewal()
        self.every(clients, lambda c: captures[c].sent.get("rebind"), 15, "rebind")
        self.every(clients, lambda c: daemon.replies(
            interface=c.link.server_interface, type="ack") > before[c], 1, "ACK of the rebind")
        for client in clients:
            namespace.ip_in(client.space, "neigh", "del", client.link.server_address, "dev",
                            client.interface)
        say("rebound: every client, by broadcast while the server's address was unreachable")

    def check_releases(self, clients, daemon, held):
        """Each RELEASE arrives and is stored."""
        for client in clients:
            client.release()
        self.every(clients, lambda c: daemon.received(
            interface=c.link.server_interface, type="release"), 5, "release")
        self.assertEqual(daemon.replies(type="nak"), 0)
        self.assertEqual(daemon.terminate()[0], 0)
        stored = daemon.leases()
        self.assertEqual({address: "released" for address in held.values()},
                         {address: stored[address]["state"] for address in held.values()})
        say("released: every client; the store says so")

    def test_two_interfaces(self):
        """two interfaces: dhclient and udhcpc get different addresses, each of its subnet"""
        network, daemon, clients = self.start((real_clients.Dhclient, real_clients.Udhcpc))
        for client in clients:
            client.start()
        self.every(clients, lambda c: c.address(), 6, "lease")
        clients[1].ask_renewal()
        self.every(clients, lambda c: [e for e in c.events() if e in ("RENEW", "renew")], 6,
                   "renewal")
        for client, link in zip(clients, network.links):
            self.assertTrue(client.address().startswith(f"{link.stem}.1."))
            self.assertGreaterEqual(daemon.replies(interface=link.server_interface, type="ack"), 2)
        say(", ".join(f"{c.name} {c.address()}: leased and renewed" for c in clients))
        self.assertEqual(daemon.terminate()[0], 0)
        stored = daemon.leases()
        for client in clients:
            row = stored[client.address()]
            mac = namespace.hardware_address(client.space, client.interface)
            self.assertEqual((row["state"], server.mac_in(row)), ("bound", mac))


if __name__ == "__main__":
    system_test.main(timeout_seconds=110)
