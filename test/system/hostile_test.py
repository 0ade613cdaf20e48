"""Hostile datagrams on one interface, while clients on it and on the other are served."""

import random
import socket
import struct
import subprocess
import sys
import time

import cleanup
import dhcp_message as dhcp
import namespace
import packet_port
import server
import system_test
from system_test import say

_SO_BINDTODEVICE = 25
FLOOD_SECONDS = 3.0
# A few seconds at the highest rate Python reaches: a process of its own, in the namespace it is in.
_FLOOD = """
import os, random, socket, sys, time
kind, seconds = sys.argv[1], float(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_SOCKET, 25, b"eth0")
out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
out.bind(("", 68))
choose = random.Random(7)
if kind == "empty":
    payloads = [b""]
elif kind == "garbage":
    payloads = [choose.randbytes(choose.randint(0, 1400)) for _ in range(256)]
else:  # DISCOVERs of 4096 clients
    base = bytearray(300)
    base[0:4] = b"\\1\\1\\6\\0"
    base[236:244] = bytes((99, 130, 83, 99, 53, 1, 1, 255))
    payloads = []
    for number in range(4096):
        base[4:8] = number.to_bytes(4, "big")
        base[28:34] = b"\\2\\xfe" + number.to_bytes(4, "big")
        payloads.append(bytes(base))
sent, end = 0, time.monotonic() + seconds
while time.monotonic() < end:
    for _ in range(64):
        try:
            out.sendto(payloads[sent % len(payloads)], ("255.255.255.255", 67))
            sent += 1
        except OSError:
            time.sleep(0.0002)
print(sent)
"""


class HostileTest(system_test.SystemTest):
    """Interface 0 is attacked; interface 1 is not."""

    def start(self):
        """A server with two links and a packet socket on each; link 0 has a client address."""
        self.network = namespace.Network(links=2)
        self.network.links[0].add_client_address()
        subnets = [server.subnet_of(link, "64.255") for link in self.network.links]
        self.daemon = server.Server(self, self.network, subnets=subnets).start()
        self.ports = [packet_port.Port(link.client_namespace, link.client_interface)
                      for link in self.network.links]
        self.number = 0

    def service_seconds(self, index, limit=4.0):
        """How long a new client on a link takes to its lease; fails after the limit."""
        self.number += 1
        start = time.monotonic()
        ack = self.ports[index].acquire(packet_port.mac_of(self.number, 9), limit, int(limit * 10))
        self.assertIsNotNone(ack, f"no lease on interface {index} within {limit} s")
        return time.monotonic() - start

    def socket_to_server(self):
        """A UDP socket with port 68 on link 0 that may broadcast."""
        link = self.network.links[0]
        with namespace.inside(link.client_namespace):
            out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            out.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, link.client_interface.encode())
            out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            out.bind(("", dhcp.CLIENT_PORT))
        cleanup.push(out.close)
        return out

    def test_zero_length_datagrams(self):
        """zero-length datagrams, which end a multishot receive with success"""
        self.start()
        out = self.socket_to_server()
        for _ in range(50):
            out.sendto(b"", (dhcp.EVERYONE, dhcp.SERVER_PORT))
            time.sleep(0.002)
        for _ in range(1000):
            out.sendto(b"", (dhcp.EVERYONE, dhcp.SERVER_PORT))
        seconds = [self.service_seconds(index, 2) for index in (0, 1)]
        dropped = self.daemon.metric("ringdhcp_packets_dropped_total", interface="lan0",
                                     reason="too_short")
        say(f"1050 empty datagrams, {dropped:.0f} counted as too_short; then served after "
            f"{seconds[0]:.2f} s and {seconds[1]:.2f} s")
        self.assertGreaterEqual(dropped, 50)

    def test_largest_datagrams(self):
        """65,507 octets, the largest UDP payload, with a DISCOVER at its front"""
        self.start()
        out = self.socket_to_server()
        discover = dhcp.encode(dhcp.request_of(dhcp.DISCOVER, 1, packet_port.mac_of(1)))
        for _ in range(40):
            out.sendto(discover.ljust(65507, b"\0"),
                       (self.network.links[0].server_address, dhcp.SERVER_PORT))
            time.sleep(0.005)
        seconds = [self.service_seconds(index, 2) for index in (0, 1)]
        truncated = self.daemon.metric("ringdhcp_packets_dropped_total", interface="lan0",
                                       reason="truncated")
        say(f"40 datagrams of 65,507 octets, {truncated:.0f} counted as truncated; then served "
            f"after {seconds[0]:.2f} s and {seconds[1]:.2f} s")
        self.assertGreater(truncated, 0)

    def flood(self, kind):
        """Floods link 0 and asks for leases on both links meanwhile."""
        self.start()
        memory = self.daemon.rss_kib()
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.network.links[0].client_namespace, sys.executable, "-c",
             _FLOOD, kind, str(FLOOD_SECONDS)], stdout=subprocess.PIPE, text=True)
        cleanup.push(process.kill)
        time.sleep(0.3)
        times = {0: [], 1: []}
        while process.poll() is None:
            for index, found in times.items():
                found.append(self.service_seconds(index))
        sent = int(process.communicate()[0])
        self.assertTrue(self.daemon.running())
        kernel = self.daemon.metric("ringdhcp_kernel_receive_drops_total", interface="lan0")
        say(f"{kind}: {sent / FLOOD_SECONDS:.0f} datagrams/s, {kernel:.0f} dropped by the kernel; "
            f"leases meanwhile: same interface {len(times[0])}, worst {max(times[0]):.2f} s; "
            f"other interface {len(times[1])}, worst {max(times[1]):.2f} s; "
            f"memory {memory} -> {self.daemon.rss_kib()} KiB")
        self.assertLess(max(times[1]), 1.0, "the quiet interface was slow")
        self.assertLess(self.daemon.rss_kib() - memory, 64 * 1024)
        self.assertLess(max(self.service_seconds(index, 1) for index in (0, 1)), 1.0)

    def test_garbage_flood(self):
        """random octets as fast as they can be sent"""
        self.flood("garbage")

    def test_empty_flood(self):
        """zero-length datagrams as fast as they can be sent"""
        self.flood("empty")

    def test_discover_flood(self):
        """DISCOVERs of 4096 clients that never go on, as fast as they can be sent"""
        self.flood("discover")

    def test_malformed_frames(self):
        """wrong checksums, lengths that lie, fragments, foreign protocols"""
        self.start()
        choose = random.Random(11)
        link = self.network.links[0]
        good = dhcp.encode_frame(dhcp.Datagram(
            dhcp.encode(dhcp.request_of(dhcp.DISCOVER, 2, packet_port.mac_of(2))),
            source_mac=link.client_mac))
        for _ in range(2000):
            frame = bytearray(good)
            for _ in range(choose.randint(1, 6)):
                frame[choose.randrange(12, len(frame))] = choose.randrange(256)
            struct.pack_into("!H", frame, 38, choose.choice((8, 7, 0, 9, 65535, 308)))
            struct.pack_into("!H", frame, 40, 0)
            self.ports[0].send_frame(bytes(frame[:choose.randint(14, len(frame))]))
        seconds = [self.service_seconds(index, 2) for index in (0, 1)]
        say(f"2000 malformed frames; then served after {seconds[0]:.2f} s and {seconds[1]:.2f} s")
        self.assertTrue(self.daemon.running())


if __name__ == "__main__":
    system_test.main(timeout_seconds=60)
