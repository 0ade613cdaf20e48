"""DHCP messages and the frames around them: build and parse (RFC 2131, 2132, 768, 791)."""

import dataclasses
import socket
import struct

DISCOVER, OFFER, REQUEST, DECLINE, ACK, NAK, RELEASE, INFORM = range(1, 9)

OPTION_SUBNET_MASK = 1
OPTION_ROUTERS = 3
OPTION_HOST_NAME = 12
OPTION_REQUESTED_ADDRESS = 50
OPTION_LEASE_TIME = 51
OPTION_MESSAGE_TYPE = 53
OPTION_SERVER_IDENTIFIER = 54
OPTION_PARAMETER_REQUEST_LIST = 55
OPTION_CLIENT_IDENTIFIER = 61
OPTION_RELAY_INFORMATION = 82

SERVER_PORT = 67
CLIENT_PORT = 68
FLAG_BROADCAST = 0x8000
BROADCAST_MAC = b"\xff" * 6
ANY = "0.0.0.0"
EVERYONE = "255.255.255.255"

_COOKIE = bytes((99, 130, 83, 99))
_HEADER = struct.Struct("!BBBBIHH4s4s4s4s16s64s128s")
_PARAMETERS = bytes((1, 3, 6, 15, 51, 58, 59))


@dataclasses.dataclass
class Message:
    """One BOOTP header with its options in wire order; addresses are dotted strings."""

    op: int = 1
    htype: int = 1
    hlen: int = 6
    hops: int = 0
    xid: int = 0
    secs: int = 0
    flags: int = 0
    ciaddr: str = ANY
    yiaddr: str = ANY
    siaddr: str = ANY
    giaddr: str = ANY
    chaddr: bytes = b""
    options: list = dataclasses.field(default_factory=list)

    def option(self, code):
        """The value of an option, its parts joined (RFC 3396), or None."""
        parts = [value for found, value in self.options if found == code]
        return b"".join(parts) if parts else None

    @property
    def type(self):
        """Option 53, or 0."""
        value = self.option(OPTION_MESSAGE_TYPE)
        return value[0] if value else 0

    @property
    def server_identifier(self):
        """Option 54 as a dotted string, or None."""
        value = self.option(OPTION_SERVER_IDENTIFIER)
        return socket.inet_ntoa(value) if value else None

    @property
    def lease_time(self):
        """Option 51 in seconds, or None."""
        value = self.option(OPTION_LEASE_TIME)
        return int.from_bytes(value, "big") if value else None


def encode(message):
    """The UDP payload of `message`, padded to 300 bytes."""
    header = _HEADER.pack(
        message.op, message.htype, message.hlen, message.hops, message.xid, message.secs,
        message.flags, *(socket.inet_aton(a) for a in
                         (message.ciaddr, message.yiaddr, message.siaddr, message.giaddr)),
        message.chaddr, b"", b"")
    options = b"".join(bytes((code, len(value))) + value for code, value in message.options)
    return (header + _COOKIE + options + b"\xff").ljust(300, b"\0")


def decode(payload):
    """The Message in a UDP payload, or None if it is no BOOTP message with the magic cookie."""
    if len(payload) < 240 or payload[236:240] != _COOKIE:
        return None
    fields = _HEADER.unpack_from(payload)
    addresses = [socket.inet_ntoa(raw) for raw in fields[7:11]]
    hlen = min(fields[2], 16)
    return Message(*fields[:7], *addresses, fields[11][:hlen], _decode_options(payload[240:]))


def _decode_options(field):
    """The (code, value) pairs of an options field; stops at the first that runs past the end."""
    options = []
    at = 0
    while at < len(field) and field[at] != 255:
        if field[at] == 0:
            at += 1
            continue
        if at + 1 >= len(field) or at + 2 + field[at + 1] > len(field):
            break
        options.append((field[at], field[at + 2:at + 2 + field[at + 1]]))
        at += 2 + field[at + 1]
    return options


def request_of(message_type, xid, chaddr, options=(), **fields):
    """A client's message: option 53, then `options`, then the usual parameter request list."""
    every = [(OPTION_MESSAGE_TYPE, bytes((message_type,))), *options]
    if message_type in (DISCOVER, REQUEST, INFORM):
        every.append((OPTION_PARAMETER_REQUEST_LIST, _PARAMETERS))
    every.sort(key=lambda option: option[0] == OPTION_RELAY_INFORMATION)
    return Message(xid=xid, chaddr=chaddr, options=every, **fields)


def address_option(code, address):
    """An option whose value is one IPv4 address."""
    return (code, socket.inet_aton(address))


def checksum(data):
    """The Internet checksum (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclasses.dataclass
class Datagram:
    """A UDP datagram with the frame it travels in."""

    payload: bytes
    source: str = ANY
    destination: str = EVERYONE
    source_port: int = CLIENT_PORT
    destination_port: int = SERVER_PORT
    source_mac: bytes = bytes(6)
    destination_mac: bytes = BROADCAST_MAC
    outgoing: bool = False
    time: float = 0.0
    message: Message = None


def encode_frame(datagram):
    """The Ethernet frame of a datagram, with both checksums."""
    length = 8 + len(datagram.payload)
    pair = socket.inet_aton(datagram.source) + socket.inet_aton(datagram.destination)
    ports = struct.pack("!HHH", datagram.source_port, datagram.destination_port, length)
    pseudo = pair + struct.pack("!BBH", 0, 17, length)
    udp_sum = checksum(pseudo + ports + b"\0\0" + datagram.payload) or 0xFFFF
    start = struct.pack("!BBHHHBB", 0x45, 0, 20 + length, 0, 0, 64, 17)
    ip_header = start + struct.pack("!H", checksum(start + b"\0\0" + pair)) + pair
    ethernet = datagram.destination_mac + datagram.source_mac + b"\x08\x00"
    return ethernet + ip_header + ports + struct.pack("!H", udp_sum) + datagram.payload


def decode_frame(frame):
    """The UDP datagram in an Ethernet frame, its message decoded; None for anything else."""
    if len(frame) < 42 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    at = 14 + (frame[14] & 15) * 4
    if int.from_bytes(frame[20:22], "big") & 0x3FFF or len(frame) < at + 8:
        return None
    source_port, destination_port, length = struct.unpack_from("!HHH", frame, at)
    payload = frame[at + 8:at + length]
    return Datagram(payload, socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34]),
                    source_port, destination_port, frame[6:12], frame[0:6],
                    message=decode(payload))


def arp_reply(frame, addresses):
    """The answer to an ARP request for one of `addresses` {dotted: mac}, or None."""
    if len(frame) < 42 or frame[12:14] != b"\x08\x06" or frame[20:22] != b"\0\1":
        return None
    mac = addresses.get(socket.inet_ntoa(frame[38:42]))
    if mac is None:
        return None
    return (frame[6:12] + mac + frame[12:20] + b"\0\2" + mac + frame[38:42] + frame[22:32])
