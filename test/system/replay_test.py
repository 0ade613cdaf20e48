"""Every message of test/golden/client_messages.hex as a broadcast on one of two interfaces."""

import collections
import os

import dhcp_message as dhcp
import namespace
import packet_port
import server
import system_test
from system_test import say

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "golden", "client_messages.hex")
ROUNDS = 4  # the first fills tables and allocator caches; memory is compared after it
GROWTH_MAX_KIB = 8 * 1024
BURST = 32  # below a socket buffer's worth, so that the kernel drops nothing


def golden_payloads():
    """The UDP payloads of the file, in order."""
    with open(GOLDEN, encoding="ascii") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [bytes.fromhex(row[1]) for row in rows]


def header_of(payload):
    """The BOOTP header of a payload as a Message, cookie or not."""
    padded = payload.ljust(240, b"\0")
    return dhcp.decode(padded[:236] + bytes((99, 130, 83, 99)) + padded[240:])


def is_station(request):
    """Whether chaddr is an Ethernet address that a frame can be sent to: no group, not zero."""
    return (request.htype, request.hlen) == (1, 6) and not request.chaddr[0] & 1 \
        and any(request.chaddr)


def allowed(request, reply):
    """Whether the way of a reply is one that RFC 2131 section 4.1 gives for its request."""
    where = (reply.destination, reply.destination_port)
    if request.giaddr != dhcp.ANY:
        return where == (request.giaddr, dhcp.SERVER_PORT)
    everyone = where == (dhcp.EVERYONE, dhcp.CLIENT_PORT) \
        and reply.destination_mac == dhcp.BROADCAST_MAC
    if reply.message.type == dhcp.NAK:
        return everyone
    if request.ciaddr != dhcp.ANY and where == (request.ciaddr, dhcp.CLIENT_PORT):
        return True
    # Section 4.4.1 wants ciaddr zero in a DISCOVER: one that is set may count as zero.
    if request.ciaddr != dhcp.ANY and request.type != dhcp.DISCOVER:
        return False
    if request.flags & dhcp.FLAG_BROADCAST or not is_station(request):
        return everyone
    return where == (reply.message.yiaddr, dhcp.CLIENT_PORT) \
        and reply.destination_mac == request.chaddr


class ReplayTest(system_test.SystemTest):
    """What real clients and relays sent, whole, to a server that has to survive it."""

    def replay(self, port, payloads):
        """Sends all payloads in bursts; returns every reply that was seen."""
        replies = []
        for at in range(0, len(payloads), BURST):
            for payload in payloads[at:at + BURST]:
                chaddr = payload[28:34]
                mac = chaddr if payload[2] == 6 and not chaddr[0] & 1 else packet_port.mac_of(1)
                port.send(payload, source_mac=mac)
            replies += port.drain(0.06)
        replies += port.drain(0.3)
        return [reply for reply in replies if reply.source_port == dhcp.SERVER_PORT]

    def check_routes(self, payloads, replies):
        """Each reply answers a message that was sent, and goes where section 4.1 sends it."""
        requests = collections.defaultdict(list)
        for payload in payloads:
            header = header_of(payload)
            requests[header.xid].append(header)
        for reply in replies:
            self.assertIsNotNone(reply.message, "a reply without the magic cookie")
            self.assertEqual(reply.message.op, 2)
            fits = [request for request in requests[reply.message.xid]
                    if request.chaddr == reply.message.chaddr and allowed(request, reply)]
            self.assertTrue(fits, f"{reply.message} went to {reply.destination}:"
                                  f"{reply.destination_port}, {reply.destination_mac.hex(':')}; "
                                  f"asked by {requests[reply.message.xid]}")

    def test_golden_messages(self):
        """all messages, four times: served after, replies go where they may, memory holds"""
        network = namespace.Network(links=2)
        daemon = server.Server(self, network).start()
        ports = [packet_port.Port(link.client_namespace, link.client_interface)
                 for link in network.links]
        payloads = golden_payloads()
        self.assertGreater(len(payloads), 700)
        memory = []
        kinds = collections.Counter()
        for _ in range(ROUNDS):
            replies = self.replay(ports[0], payloads)
            self.check_routes(payloads, replies)
            kinds.update(reply.message.type for reply in replies)
            self.assertTrue(daemon.running(), "the server ended")
            memory.append(daemon.rss_kib())
        self.assertEqual(ports[1].drain(0.1), [], "something left by the other interface")
        received = daemon.received(interface=network.links[0].server_interface)
        say(f"{len(payloads)} messages x {ROUNDS}: {received:.0f} received, replies: "
            f"{kinds[dhcp.OFFER]} OFFER, {kinds[dhcp.ACK]} ACK, {kinds[dhcp.NAK]} NAK")
        drops = {labels["reason"]: int(value) for name, labels, value in daemon.metrics()
                 if name == "ringdhcp_packets_dropped_total" and value}
        say(f"drops by reason: {drops}; resident memory after each round, KiB: {memory}")
        self.assertGreaterEqual(received, 0.99 * ROUNDS * len(payloads))
        self.assertGreater(kinds[dhcp.OFFER], 100)
        self.assertLess(memory[-1] - memory[0], GROWTH_MAX_KIB)
        for index, port in enumerate(ports):
            self.assertIsNotNone(port.acquire(packet_port.mac_of(9, index)),
                                 f"interface {index} is not served afterwards")
        self.assertEqual(daemon.terminate()[0], 0)


if __name__ == "__main__":
    system_test.main(timeout_seconds=60)
