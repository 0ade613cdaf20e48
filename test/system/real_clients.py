"""The DHCP clients of distributions, each in a client namespace: dhclient, udhcpc, dhcpcd."""

import os
import signal
import subprocess

import cleanup
import namespace
import server
import system_test

# Each script sets the address and writes one line "event address" per event.
_DHCLIENT_SCRIPT = """#!/bin/sh
echo "$reason $new_ip_address" >> "$(dirname "$0")/events"
case "$reason" in
  PREINIT) ip link set "$interface" up ;;
  BOUND|RENEW|REBIND|REBOOT)
    [ "$old_ip_address" = "$new_ip_address" ] || ip -4 addr flush dev "$interface"
    ip addr replace "$new_ip_address/$new_subnet_mask" dev "$interface" ;;
  EXPIRE|FAIL|RELEASE|STOP) ip -4 addr flush dev "$interface" ;;
esac
exit 0
"""
_DHCLIENT_CONFIG = """
initial-delay 0; initial-interval 1; backoff-cutoff 2; retry 1; timeout 60;
send dhcp-client-identifier = hardware;
request subnet-mask, broadcast-address, routers, dhcp-lease-time, dhcp-renewal-time,
        dhcp-rebinding-time;
"""
_UDHCPC_SCRIPT = """#!/bin/sh
echo "$1 $ip" >> "$(dirname "$0")/events"
case "$1" in
  bound|renew) ip addr replace "$ip/$mask" dev "$interface" ;;
  deconfig) ip link set "$interface" up; ip -4 addr flush dev "$interface" ;;
esac
exit 0
"""
_DHCPCD_SCRIPT = """#!/bin/sh
echo "$reason $new_ip_address" >> EVENTS
exit 0
"""


class RealClient:
    """One client process on the client's end of a link (or any interface of a namespace)."""

    name = "?"

    def __init__(self, test, link=None, space=None, interface=None):
        self.space = space or link.client_namespace
        self.interface = interface or link.client_interface
        self.work = server.work_directory()
        self.process = None
        test.show_on_failure(self._trace)
        cleanup.push(self.kill)

    def __str__(self):
        return f"{self.name} on {self.space}/{self.interface}"

    def _trace(self):
        return (f"--- {self}: events {self.events()}\n{self._read('log')[-3000:]}---")

    def _read(self, name):
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def _write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def _command(self):
        raise NotImplementedError

    def spawn(self, *command):
        """Starts a command in the client's namespace, its output in the log."""
        with open(os.path.join(self.work, "log"), "ab") as log:
            return subprocess.Popen(["ip", "netns", "exec", self.space, *command], stdout=log,
                                    stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def start(self):
        """Starts the client."""
        self.process = self.spawn(*self._command())
        return self

    def kill(self):
        """Ends the client without a RELEASE."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def events(self):
        """The first words of the script's lines, in order."""
        return [line.split()[0] for line in self._read("events").splitlines() if line.strip()]

    def address(self):
        """The address the interface has now, or None."""
        have = namespace.addresses(self.space, self.interface)
        return have[0] if have else None

    def wait_address(self, seconds):
        """Waits for an address; the address or None."""
        return system_test.wait_until(self.address, seconds, 0.03)

    def ask_renewal(self):
        """Renews now, for clients that are slow to do so by themselves."""

    def release(self):
        """Sends a RELEASE and ends."""
        raise NotImplementedError


class Dhclient(RealClient):
    """ISC dhclient."""

    name = "dhclient"

    def _command(self):
        self._files = ["-sf", self._write("script", _DHCLIENT_SCRIPT),
                       "-cf", self._write("conf", _DHCLIENT_CONFIG),
                       "-lf", os.path.join(self.work, "leases"),
                       "-pf", os.path.join(self.work, "pid")]
        return ["dhclient", "-4", "-d", "-v", *self._files, self.interface]

    def release(self):
        self.spawn("dhclient", "-4", "-r", "-v", *self._files, self.interface).wait(10)
        self.kill()


class Udhcpc(RealClient):
    """BusyBox udhcpc. It ignores T1 and T2, and takes a lease below 122 s as 122 s."""

    name = "udhcpc"

    def _command(self):
        return ["udhcpc", "-f", "-i", self.interface, "-t", "5", "-T", "1", "-A", "1",
                "-s", self._write("script", _UDHCPC_SCRIPT)]

    def ask_renewal(self):
        self.process.send_signal(signal.SIGUSR1)

    def release(self):
        self.process.send_signal(signal.SIGUSR2)


class Dhcpcd(RealClient):
    """dhcpcd, with directories of its own: its pid file and socket are named by the interface."""

    name = "dhcpcd"
    _OWN = ("/run/dhcpcd", "/var/lib/dhcpcd")

    def _inside(self, *arguments):
        mounts = "".join(f"mkdir -p {d} && mount --bind {self.work}/own{d} {d} && "
                         for d in self._OWN)
        return ["unshare", "-m", "sh", "-c", mounts + "exec dhcpcd \"$@\"", "dhcpcd", *arguments]

    def _command(self):
        for directory in self._OWN:
            os.makedirs(f"{self.work}/own{directory}", exist_ok=True)
        os.chmod(self.work, 0o755)
        events = self._write("events", "")
        os.chmod(events, 0o666)
        script = self._write("script", _DHCPCD_SCRIPT.replace("EVENTS", events))
        config = self._write("conf", "ipv4only\nnoarp\nnoipv4ll\nnodelay\nclientid\n"
                             "option subnet_mask, routers, broadcast_address, dhcp_lease_time\n"
                             "nogateway\nreboot 0\ntimeout 60\n")
        self._options = ["-f", config, "-c", script]
        return self._inside("-4", "-B", "-d", *self._options, self.interface)

    def release(self):
        self.spawn(*self._inside("-4", "-k", *self._options, self.interface)).wait(10)
