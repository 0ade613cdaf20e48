"""Network namespaces of a test: a server namespace, client namespaces, veth pairs between them."""

import array
import contextlib
import ctypes
import dataclasses
import fcntl
import json
import os
import re
import socket
import struct
import subprocess

import cleanup

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_SIOCETHTOOL = 0x8946
_ETHTOOL_SGRO = 0x2C
_NAME = re.compile(r"ringtest-(\d+)-")


def run(*command, check=True):
    """Runs a command to its end and returns its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def ip_in(namespace, *arguments, check=True):
    """`ip` with these arguments, inside a namespace."""
    return run("ip", "-n", namespace, *arguments, check=check)


def _set_namespace(descriptor):
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"setns: {os.strerror(number)}")


@contextlib.contextmanager
def inside(namespace):
    """Moves the calling thread into a namespace; a socket made there stays there."""
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _set_namespace(there)
        yield
    finally:
        _set_namespace(here)
        os.close(there)
        os.close(here)


def switch_gro_on(namespace, interface):
    """Gives a veth end NAPI of its own: without it all veths of a CPU share one backlog."""
    value = array.array("B", struct.pack("II", _ETHTOOL_SGRO, 1))
    request = struct.pack("16sP16x", interface.encode(), value.buffer_info()[0])
    with inside(namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control.fileno(), _SIOCETHTOOL, request)


def hardware_address(namespace, interface):
    """The MAC address of an interface, as bytes."""
    shown = json.loads(ip_in(namespace, "-j", "link", "show", "dev", interface))
    return bytes.fromhex(shown[0]["address"].replace(":", ""))


def addresses(namespace, interface):
    """The IPv4 addresses of an interface, dotted."""
    shown = json.loads(ip_in(namespace, "-j", "-4", "addr", "show", "dev", interface) or "[]")
    return [info["local"] for link in shown for info in link.get("addr_info", [])]


def udp_buffer_drops(namespace):
    """Datagrams dropped in a namespace because the receiving program's socket buffer was full."""
    with inside(namespace), open("/proc/thread-self/net/snmp", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("Udp:")]
    return int(values[names.index("RcvbufErrors")])


def _alive(pid):
    return os.path.exists(f"/proc/{pid}")


def sweep():
    """Removes namespaces of earlier test processes that were killed before they could clean up."""
    for line in run("ip", "netns", "list").splitlines():
        name = line.split()[0] if line.strip() else ""
        found = _NAME.match(name)
        if found and not _alive(found.group(1)):
            run("ip", "netns", "del", name, check=False)


@dataclasses.dataclass
class Link:
    """A veth pair between the server's namespace and one client's."""

    index: int
    server_namespace: str
    server_interface: str
    client_namespace: str
    client_interface: str
    prefix_length: int = 16

    @property
    def stem(self):
        """The first two octets of the link's network."""
        return f"10.{16 * (self.index + 1)}"

    @property
    def prefix(self):
        """The link's network, as the configuration writes it."""
        return f"{self.stem}.0.0/{self.prefix_length}"

    @property
    def server_address(self):
        """The server's address on the link."""
        return f"{self.stem}.0.1"

    @property
    def client_address(self):
        """The address the client's end has after add_client_address(): a relay's giaddr."""
        return f"{self.stem}.0.2"

    @property
    def client_mac(self):
        """The MAC address of the client's end."""
        return hardware_address(self.client_namespace, self.client_interface)

    @property
    def server_mac(self):
        """The MAC address of the server's end."""
        return hardware_address(self.server_namespace, self.server_interface)

    def create(self):
        """Makes the pair; the client's end is up, the server's end is down and has no address."""
        run("ip", "link", "add", self.server_interface, "netns", self.server_namespace,
            "type", "veth", "peer", "name", self.client_interface,
            "netns", self.client_namespace)
        switch_gro_on(self.server_namespace, self.server_interface)
        switch_gro_on(self.client_namespace, self.client_interface)
        ip_in(self.client_namespace, "link", "set", self.client_interface, "up")

    def configure_server(self):
        """Gives the server's end its address and brings it up."""
        ip_in(self.server_namespace, "addr", "add", f"{self.server_address}/{self.prefix_length}",
              "brd", "+", "dev", self.server_interface)
        self.set_server("up")

    def set_server(self, state):
        """Sets the server's end "up" or "down"."""
        ip_in(self.server_namespace, "link", "set", self.server_interface, state)

    def delete(self):
        """Deletes the pair, from the server's side."""
        ip_in(self.server_namespace, "link", "del", self.server_interface)

    def add_client_address(self):
        """Gives the client's end a fixed address, as a relay has."""
        ip_in(self.client_namespace, "addr", "add", f"{self.client_address}/{self.prefix_length}",
              "brd", "+", "dev", self.client_interface)


class Network:
    """The namespaces of one test: `links` pairs between the server's and one namespace each."""

    _made = 0

    def __init__(self, links=2, prefix_length=16):
        Network._made += 1
        self._stem = f"ringtest-{os.getpid()}-{Network._made}"
        self.prefix_length = prefix_length
        self.server_namespace = self.add_namespace("server")
        self.links = []
        for _ in range(links):
            self.add_link().configure_server()

    def add_namespace(self, role):
        """Makes a namespace that is removed with everything in it when the test ends."""
        name = f"{self._stem}-{role}"
        run("ip", "netns", "add", name)
        cleanup.push(lambda: _remove(name))
        ip_in(name, "link", "set", "lo", "up")
        return name

    def add_link(self):
        """One more veth pair with a client namespace of its own; the server's end is down."""
        index = len(self.links)
        link = Link(index, self.server_namespace, f"lan{index}",
                    self.add_namespace(f"client{index}"), "eth0", self.prefix_length)
        link.create()
        self.links.append(link)
        return link


def _remove(name):
    """Ends what still runs in a namespace of ours (helpers that a client forked), removes it."""
    for pid in run("ip", "netns", "pids", name, check=False).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), 9)
    run("ip", "netns", "del", name)
