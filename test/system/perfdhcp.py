"""ISC perfdhcp, one run on one link: it plays a relay whose clients all are new."""

import dataclasses
import os
import re
import subprocess

import cleanup
import server

_SECTION = re.compile(r"Statistics for: (\w+)-(\w+)\*\*\*(.*?)(?=\*\*\*|\Z)", re.S)
_FIELD = re.compile(r"^([a-z ]+): ([0-9.]+)", re.M)


@dataclasses.dataclass
class Result:
    """What one run printed."""

    sent: dict        # by message name: DISCOVER, REQUEST
    received: dict    # by message name: OFFER, ACK
    duplicates: int   # addresses given to two clients
    average_ms: float  # REQUEST to ACK
    maximum_ms: float

    def drop_percent(self, request, reply):
        """The share of `request` messages that got no `reply`, in percent."""
        return 100.0 * (1 - self.received[reply] / max(1, self.sent[request]))


def parse(text):
    """The Result in perfdhcp's output; raises ValueError when there is none."""
    result = Result({}, {}, 0, 0.0, 0.0)
    for request, reply, body in _SECTION.findall(text):
        fields = {name.strip(): float(value) for name, value in _FIELD.findall(body)}
        result.sent[request] = int(fields["sent packets"])
        result.received[reply] = int(fields["received packets"])
        result.duplicates += int(fields.get("non unique addresses", 0))
        if reply == "ACK":
            result.average_ms = fields.get("avg delay", 0.0)
            result.maximum_ms = fields.get("max delay", 0.0)
    if set(result.received) != {"OFFER", "ACK"}:
        raise ValueError(f"perfdhcp printed no statistics:\n{text}")
    return result


def raise_receive_buffer():
    """Gives perfdhcp's socket 4 MiB, which it takes from the kernel's default, until the test ends.

    With 208 KiB, 166 replies, it loses some whenever it does not run for 16 ms.
    """
    path = "/proc/sys/net/core/rmem_default"
    with open(path, encoding="ascii") as setting:
        before = setting.read()
    if int(before) >= 4 << 20:
        return

    def write(value):
        with open(path, "w", encoding="ascii") as setting:
            setting.write(value)

    cleanup.push(lambda: write(before))
    write(str(4 << 20))


class Run:
    """A perfdhcp process on the client's end of a link, which must have its address."""

    def __init__(self, link, seconds, rate=None, clients=1000, unique=False):
        """rate: exchanges/s, None as fast as it can; unique: check that no address comes twice."""
        raise_receive_buffer()
        self._path = os.path.join(server.work_directory(), "perfdhcp")
        # Clients differ in the last three octets, links in the third. Without the wait at the end
        # (-W, microseconds) what is still on its way counts as lost.
        command = ["ip", "netns", "exec", link.client_namespace, "perfdhcp", "-4", "-g", "single",
                   "-l", link.client_address, "-b", f"mac=00:0c:{link.index + 1:02x}:00:00:00",
                   "-R", str(clients), "-p", str(seconds), "-W", "1000000", "-s", "1"]
        command += ["-r", str(rate)] if rate else []
        command += ["-u"] if unique else []
        with open(self._path, "wb") as output:
            self.process = subprocess.Popen(command + [link.server_address], stdout=output,
                                            stderr=output, stdin=subprocess.DEVNULL)
        self._limit = seconds + 20
        cleanup.push(self.kill)

    def kill(self):
        """Ends it at once."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def result(self):
        """Waits for the end and returns the Result. Its exit code says nothing: 3 is one drop."""
        self.process.wait(self._limit)
        with open(self._path, encoding="utf-8", errors="replace") as output:
            return parse(output.read())
