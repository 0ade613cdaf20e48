"""Load that remembers what it was promised: each ACK is an address, a client and an end."""

import random
import time

import dhcp_message as dhcp
import packet_port
import server

_RETRANSMIT_SECONDS = 0.5
_SENDS_MAX = 4


class Pending:
    """A message that waits for its answer."""

    def __init__(self, message, frame):
        self.message = message
        self.frame = frame
        self.first_sent = time.time()
        self.again_at = time.monotonic() + _RETRANSMIT_SECONDS
        self.sends = 1


class PromiseLoad:
    """Clients of one link: they lease, renew, reboot and release, `window` of them at a time."""

    def __init__(self, link, seed, window=48):
        self._link = link
        self._server_mac = link.server_mac
        self._port = packet_port.Port(link.client_namespace, link.client_interface)
        self._random = random.Random(seed)
        self._window = window
        self._pending = {}  # xid: Pending
        self._busy = set()  # MACs with a Pending
        self._clients = 0
        self.promises = {}  # address: (MAC, end as seconds since 1970)
        self.violations = []
        self.counts = {"ack": 0, "nak": 0, "lost": 0, "release": 0}

    def _send(self, message, **frame):
        self._pending[message.xid] = Pending(message, frame)
        self._busy.add(message.chaddr)
        self._port.send(message, **frame)

    def _forget(self, xid):
        self._busy.discard(self._pending.pop(xid).message.chaddr)

    def _unicast(self, address):
        return {"source": address, "destination": self._link.server_address,
                "destination_mac": self._server_mac}

    def _begin(self):
        """One more client does something: mostly a new lease, a renewal for every third."""
        choice = self._random.random()
        idle = None
        if self.promises and choice > 0.5:
            address = self._random.choice(tuple(self.promises))
            mac, end = self.promises[address]
            if mac not in self._busy and end > time.time() + 1:
                idle = (mac, address)
        if idle is None:
            self._clients += 1
            mac = packet_port.mac_of(self._clients, self._link.index)
            # Every fourth client wants a lease that ends during the test (option 51).
            short = [(dhcp.OPTION_LEASE_TIME, b"\0\0\0\3")] if self._clients % 4 == 0 else []
            self._send(dhcp.request_of(dhcp.DISCOVER, packet_port.new_xid(), mac, short))
        elif choice < 0.8:
            self._send(dhcp.request_of(dhcp.REQUEST, packet_port.new_xid(), idle[0],
                                       ciaddr=idle[1]), **self._unicast(idle[1]))
        elif choice < 0.95:  # INIT-REBOOT, RFC 2131 section 4.3.2
            wanted = dhcp.address_option(dhcp.OPTION_REQUESTED_ADDRESS, idle[1])
            self._send(dhcp.request_of(dhcp.REQUEST, packet_port.new_xid(), idle[0], [wanted]))
        else:
            self._release(*idle)

    def _release(self, mac, address):
        """From now on the address may be anyone's, whether or not the RELEASE arrives."""
        del self.promises[address]
        self.counts["release"] += 1
        of = dhcp.address_option(dhcp.OPTION_SERVER_IDENTIFIER, self._link.server_address)
        self._port.send(dhcp.request_of(dhcp.RELEASE, packet_port.new_xid(), mac, [of],
                                        ciaddr=address), **self._unicast(address))

    def _take(self, message):
        """Handles one reply to a message of ours."""
        pending = self._pending.get(message.xid)
        if pending is None or message.op != 2 or message.chaddr != pending.message.chaddr:
            return
        if message.type == dhcp.OFFER and pending.message.type == dhcp.DISCOVER:
            self._forget(message.xid)
            wish = [o for o in pending.message.options if o[0] == dhcp.OPTION_LEASE_TIME]
            self._send(self._port.selecting(message, message.chaddr, wish))
        elif message.type == dhcp.ACK and pending.message.type == dhcp.REQUEST:
            self._promise(message, pending.first_sent + message.lease_time)
            self._forget(message.xid)
        elif message.type == dhcp.NAK:
            self._refused(pending)
            self._forget(message.xid)

    def _promise(self, ack, end):
        """Notes an ACK; a live promise of the same address to another client is a violation."""
        self.counts["ack"] += 1
        mac, old_end = self.promises.get(ack.yiaddr, (ack.chaddr, 0))
        if mac != ack.chaddr and old_end > time.time():
            self.violations.append(f"{ack.yiaddr} is {mac.hex(':')}'s for {old_end - time.time()} "
                                   f"s more, and was acknowledged to {ack.chaddr.hex(':')}")
        self.promises[ack.yiaddr] = (ack.chaddr, end)
        self._port.holders[ack.yiaddr] = ack.chaddr

    def _refused(self, pending):
        """A NAK is right only for an address that is no longer promised."""
        self.counts["nak"] += 1
        for address, (mac, end) in self.promises.items():
            asked = pending.message.option(dhcp.OPTION_REQUESTED_ADDRESS)
            asked = ".".join(map(str, asked)) if asked else pending.message.ciaddr
            if (address, mac) == (asked, pending.message.chaddr) and end > time.time():
                self.violations.append(f"NAK for {address}, which {mac.hex(':')} holds")

    def step(self):
        """Sends what is due and takes what has arrived."""
        while len(self._pending) < self._window:
            self._begin()
        for _ in range(64):
            datagram = self._port.receive(0)
            if datagram is None:
                break
            if datagram.message:
                self._take(datagram.message)
        now = time.monotonic()
        for xid, pending in list(self._pending.items()):
            if now < pending.again_at:
                continue
            if pending.sends >= _SENDS_MAX:
                self.counts["lost"] += 1
                self._forget(xid)
                continue
            pending.sends += 1
            pending.again_at = now + _RETRANSMIT_SECONDS
            self._port.send(pending.message, **pending.frame)

    def settle(self):
        """Takes every reply that is still on its way, without sending."""
        for datagram in self._port.drain(0.1):
            if datagram.message:
                self._take_last(datagram.message)

    def _take_last(self, message):
        if message.type != dhcp.OFFER:
            self._take(message)

    def unkept(self, rows):
        """What the stored rows {address: row} do not keep of the live promises, as text."""
        found = []
        for address, (mac, end) in self.promises.items():
            if end <= time.time():
                continue
            row = rows.get(address)
            if row is None or (row["state"], server.mac_in(row)) != ("bound", mac):
                found.append(f"{address} promised to {mac.hex(':')}, stored: {row}")
            elif int(row["expires"]) + 1 < end:  # stored in whole seconds
                found.append(f"{address} promised until {end:.3f}, stored: {row}")
        return found
