"""Packet sockets: DHCP clients of our own with any hardware address, and captures."""

import itertools
import select
import socket
import time

import cleanup
import dhcp_message as dhcp
import namespace

_ETH_P_ALL = 3
_SOL_PACKET = 263
_PACKET_IGNORE_OUTGOING = 23
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33

_xids = itertools.count(0x51000001)


def new_xid():
    """A transaction id that this process did not use before."""
    return next(_xids) & 0xFFFFFFFF


def mac_of(number, group=0):
    """A locally administered MAC address for client `number` of a group."""
    return bytes((2, 0, group)) + number.to_bytes(3, "big")


class Port:
    """A packet socket on one interface. Answers ARP for the addresses its clients hold."""

    def __init__(self, space, interface, outgoing=False):
        with namespace.inside(space):
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                         socket.htons(_ETH_P_ALL))
            self._socket.bind((interface, _ETH_P_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 16 << 20)
        if not outgoing:
            self._socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self._socket.setblocking(False)
        self.holders = {}  # dotted address: MAC that answers ARP for it
        cleanup.push(self._socket.close)

    def close(self):
        """Closes the socket; harmless twice."""
        self._socket.close()

    def send(self, message, source_mac=None, **frame):
        """Sends a Message or payload as UDP 68->67, to everyone unless `frame` says otherwise."""
        payload = message if isinstance(message, bytes) else dhcp.encode(message)
        mac = source_mac or message.chaddr[:6]
        datagram = dhcp.Datagram(payload, source_mac=mac, **frame)
        self.send_frame(dhcp.encode_frame(datagram))

    def send_frame(self, frame):
        """Sends one Ethernet frame, waiting for room."""
        while True:
            try:
                self._socket.send(frame)
                return
            except (BlockingIOError, OSError) as error:
                if error.errno not in (11, 105):  # EAGAIN, ENOBUFS
                    raise
                select.select([], [self._socket], [], 0.1)

    def receive(self, timeout_seconds):
        """The next UDP datagram, or None when the time is over."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            try:
                frame, address = self._socket.recvfrom(70000)
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                select.select([self._socket], [], [], left)
                continue
            except OSError as error:
                if error.errno != 100:  # ENETDOWN is reported once
                    raise
                continue
            datagram = dhcp.decode_frame(frame)
            if datagram is not None:
                datagram.time = time.monotonic()
                datagram.outgoing = address[2] == _PACKET_OUTGOING
                return datagram
            answer = dhcp.arp_reply(frame, self.holders)
            if answer is not None:
                self.send_frame(answer)

    def drain(self, quiet_seconds=0.2):
        """Everything that arrives until nothing has arrived for this long."""
        return list(iter(lambda: self.receive(quiet_seconds), None))

    def expect(self, xid, types, timeout_seconds):
        """The first reply to `xid` of one of `types`, as a datagram, or None."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            datagram = self.receive(max(0.0, deadline - time.monotonic()))
            if datagram is None:
                return None
            message = datagram.message
            if message and message.op == 2 and message.xid == xid and message.type in types:
                return datagram

    def exchange(self, message, types, timeout_seconds, tries=1, **frame):
        """Sends until an answer of one of `types` comes; the reply Message or None."""
        for _ in range(tries):
            self.send(message, **frame)
            reply = self.expect(message.xid, types, timeout_seconds / tries)
            if reply is not None:
                return reply.message
        return None

    def acquire(self, mac, timeout_seconds=2.0, tries=4, options=()):
        """DISCOVER to ACK for a client with this MAC; the ACK Message, or None."""
        discover = dhcp.request_of(dhcp.DISCOVER, new_xid(), mac, options)
        offer = self.exchange(discover, (dhcp.OFFER,), timeout_seconds, tries)
        if offer is None:
            return None
        ack = self.exchange(self.selecting(offer, mac, options), (dhcp.ACK,), timeout_seconds,
                            tries)
        if ack is not None:
            self.holders[ack.yiaddr] = mac
        return ack

    @staticmethod
    def selecting(offer, mac, options=()):
        """The REQUEST that answers an OFFER (RFC 2131 section 4.3.2)."""
        chosen = [(dhcp.OPTION_SERVER_IDENTIFIER, offer.option(dhcp.OPTION_SERVER_IDENTIFIER)),
                  dhcp.address_option(dhcp.OPTION_REQUESTED_ADDRESS, offer.yiaddr), *options]
        return dhcp.request_of(dhcp.REQUEST, offer.xid, mac, chosen)

    def renew(self, mac, address, server, server_mac, timeout_seconds=2.0, tries=2):
        """A unicast renewal (RFC 2131 section 4.3.2, RENEWING); the ACK or NAK, or None."""
        self.holders[address] = mac
        request = dhcp.request_of(dhcp.REQUEST, new_xid(), mac, ciaddr=address)
        return self.exchange(request, (dhcp.ACK, dhcp.NAK), timeout_seconds, tries,
                             source=address, destination=server, destination_mac=server_mac)
