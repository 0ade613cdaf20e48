"""A ringdhcp server in a namespace: configuration, start, stop, metrics, stored leases."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import cleanup
import namespace
import system_test

HTTP_HOST, HTTP_PORT = "127.0.0.1", 9547
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def work_directory():
    """A directory that is removed when the test ends."""
    path = tempfile.mkdtemp(prefix="ringtest-")
    cleanup.push(lambda: shutil.rmtree(path, ignore_errors=True))
    return path


def mac_in(row):
    """The hardware address of a row of `ringdhcp leases`, as octets."""
    return bytes.fromhex(re.sub("[^0-9a-fA-F]", "", row["hardware_address"]))


def subnet_of(link, last_pool_octets="8.255"):
    """The subnet on a link: pool from .1.0 to the given last two octets."""
    return {"id": link.index + 1, "prefix": link.prefix,
            "pools": [f"{link.stem}.1.0-{link.stem}.{last_pool_octets}"],
            "options": {"routers": [link.server_address]}}


def configuration(network, directory, **changes):
    """A configuration for all links of `network`; `changes` replace top level keys."""
    config = {
        "interfaces": {"include": [link.server_interface for link in network.links]},
        "subnets": [subnet_of(link) for link in network.links],
        "lease_times": {"min": 1, "default": 600, "max": 3600},
        "authoritative": True,
        "storage": {"type": "local", "directory": directory},
        "http": {"listen": f"{HTTP_HOST}:{HTTP_PORT}"},
        "log": {"level": "info", "format": "text"},
    }
    config.update(changes)
    return config


class Server:
    """One server process at a time, on one data directory. Ends with the test."""

    def __init__(self, test, network, **changes):
        self.network = network
        self.work = work_directory()
        self.data = os.path.join(self.work, "data")
        self.config = configuration(network, self.data, **changes)
        self.data = self.config["storage"].get("directory", self.data)
        self.log_path = os.path.join(self.work, "log")
        self.process = None
        test.show_on_failure(lambda: f"--- server log ---\n{self.log()[-8000:]}---")
        cleanup.push(self.kill)

    def start(self, ready_seconds=10, arguments=()):
        """Starts it and waits for /readyz; ready_seconds 0: does not wait. More `arguments`."""
        path = os.path.join(self.work, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.config, file, indent=1)  # JSON is YAML
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", self.network.server_namespace, system_test.options.server,
                 "serve", "--config", path, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if ready_seconds:
            self.wait_ready(ready_seconds)
        return self

    def wait_ready(self, seconds):
        """Waits until /readyz says 200, or raises."""
        if not system_test.wait_until(lambda: self.ready() or not self.running(), seconds, 0.02) \
                or not self.running():
            raise AssertionError(f"server not ready after {seconds} s, exit code "
                                 f"{self.process.poll()}")

    @property
    def pid(self):
        """The server's process id."""
        return self.process.pid

    def running(self):
        """Whether the process has not ended."""
        return self.process is not None and self.process.poll() is None

    def terminate(self, seconds=10):
        """SIGTERM; returns (exit code, seconds it took)."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        return code, time.monotonic() - start

    def kill(self):
        """SIGKILL, if it runs."""
        if self.running():
            self.process.kill()
            self.process.wait()

    def log(self):
        """Everything it wrote."""
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def get(self, path):
        """(status, body) of an HTTP request; (0, reason) when nothing answers."""
        with namespace.inside(self.network.server_namespace):
            connection = http.client.HTTPConnection(HTTP_HOST, HTTP_PORT, timeout=3)
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                return response.status, response.read().decode()
            except OSError as error:
                return 0, str(error)
            finally:
                connection.close()

    def ready(self):
        """Whether /readyz says 200."""
        return self.get("/readyz")[0] == 200

    def metrics(self):
        """[(name, {label: value}, value)] of /metrics."""
        samples = []
        for line in self.get("/metrics")[1].splitlines():
            found = _SAMPLE.match(line)
            if found:
                samples.append((found[1], dict(_LABEL.findall(found[2] or "")), float(found[3])))
        return samples

    def metric(self, name, **labels):
        """The sum of the samples of a metric that have these labels."""
        return sum(value for found, have, value in self.metrics()
                   if found == name and labels.items() <= have.items())

    def received(self, **labels):
        """Messages received (interface=, type=)."""
        return self.metric("ringdhcp_packets_received_total", **labels)

    def replies(self, **labels):
        """Replies sent (interface=, type=)."""
        return self.metric("ringdhcp_replies_sent_total", **labels)

    def rss_kib(self):
        """Resident memory of the process in KiB."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])

    def leases(self):
        """{address: row} of what is stored; the server must not run."""
        shown = namespace.run(system_test.options.server, "leases", "--data", self.data)
        rows = [json.loads(line) for line in shown.splitlines() if line.strip()]
        table = {row["address"]: row for row in rows}
        assert len(table) == len(rows), "an address is listed twice"
        return table
