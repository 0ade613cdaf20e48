"""Renewals of clients on the server's own link: more of them than the host has neighbours."""

import dhcp_message as dhcp
import namespace
import packet_port
import server
import system_test
from system_test import options, say

_AT_ONCE = 50


class RenewTest(system_test.SystemTest):
    """One interface; the test is the clients."""

    def start(self):
        """A server and a packet socket on its link. Every renewal is a write."""
        network = namespace.Network(links=1)
        self.link = network.links[0]
        self.daemon = server.Server(self, network, cache_threshold=0.0).start()
        self.port = packet_port.Port(self.link.client_namespace, self.link.client_interface)

    def neighbours(self):
        """The server's neighbours that are in the pool's network, as lines."""
        shown = namespace.ip_in(self.link.server_namespace, "-4", "neigh", "show", "dev",
                                self.link.server_interface)
        return [line for line in shown.splitlines() if line.strip()]

    def renewal(self, mac, address, **fields):
        """Sends a unicast renewal (RFC 2131 section 4.3.2); returns its xid."""
        message = dhcp.request_of(dhcp.REQUEST, packet_port.new_xid(), mac, ciaddr=address,
                                  **fields)
        self.port.send(message, source=address, destination=self.link.server_address,
                       destination_mac=self.link.server_mac)
        return message.xid

    def test_more_clients_than_neighbours(self):
        """clients that answer no ARP are renewed, and the host's neighbour table stays empty"""
        self.start()
        clients = {}
        for number in range(options.clients):
            mac = packet_port.mac_of(number, 1)
            ack = self.port.acquire(mac)
            self.assertIsNotNone(ack, f"client {number}")
            clients[ack.yiaddr] = mac
        self.port.holders.clear()  # from here on the clients are silent, as one that sleeps is
        addresses = sorted(clients)
        answered = 0
        for begin in range(0, len(addresses), _AT_ONCE):
            waiting = {self.renewal(clients[address], address): address
                       for address in addresses[begin:begin + _AT_ONCE]}
            while waiting:
                datagram = self.port.receive(2.0)
                self.assertIsNotNone(datagram, f"no ACK for {sorted(waiting.values())[:5]}; "
                                               f"{answered} were renewed")
                address = waiting.get(datagram.message.xid) if datagram.message else None
                if address is None or datagram.outgoing:
                    continue
                self.assertEqual((datagram.message.type, datagram.destination,
                                  datagram.destination_mac), (dhcp.ACK, address, clients[address]))
                del waiting[datagram.message.xid]
                answered += 1
        say(f"{answered} clients that answer no ARP renewed; neighbours: {self.neighbours()}")
        self.assertEqual(self.neighbours(), [])

    def test_broadcast_flag_is_resolved(self):
        """a client whose frames come from another station than chaddr is found by ARP"""
        self.start()
        mac, station = packet_port.mac_of(1, 1), packet_port.mac_of(2, 1)
        address = self.port.acquire(mac).yiaddr
        self.port.holders[address] = station
        reply = self.port.expect(self.renewal(mac, address, flags=0x8000), (dhcp.ACK,), 2.0)
        self.assertIsNotNone(reply)
        self.assertEqual((reply.destination, reply.destination_mac), (address, station))


if __name__ == "__main__":
    system_test.main(timeout_seconds=50, clients=1300)
