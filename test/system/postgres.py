"""A PostgreSQL server of the test's own: start, stop, crash, pause, query."""

import os
import shutil
import signal
import socket
import subprocess
import time

import cleanup
import server

PROGRAMS = "/usr/lib/postgresql/15/bin"


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _as_postgres(*command):
    done = subprocess.run(["runuser", "-u", "postgres", "--", *command], cwd="/", text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")


class Cluster:
    """One cluster with fsync on, reached by a socket in its directory, which namespaces share."""

    def __init__(self, test, **settings):
        self.directory = server.work_directory()
        os.chmod(self.directory, 0o755)
        shutil.chown(self.directory, "postgres")
        self.data = os.path.join(self.directory, "data")
        self.log_path = os.path.join(self.directory, "log")
        self.port = _free_port()
        _as_postgres(f"{PROGRAMS}/initdb", "-D", self.data, "-U", "postgres", "-A", "trust",
                     "-E", "UTF8", "--locale=C", "--no-sync")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="ascii") as file:
            file.write("listen_addresses = ''\nshared_buffers = 128MB\nmax_wal_size = 1GB\n"
                       "recovery_init_sync_method = syncfs\n")
            for name, value in settings.items():
                file.write(f"{name} = {value}\n")
        cleanup.push(self.crash)
        test.show_on_failure(lambda: f"--- PostgreSQL log ---\n{self.log()[-3000:]}---")
        self.start()

    @property
    def connection(self):
        """The connection string."""
        return f"host={self.directory} port={self.port} user=postgres dbname=postgres"

    def start(self):
        """Starts it and waits until it answers."""
        _as_postgres(f"{PROGRAMS}/pg_ctl", "start", "-w", "-t", "60", "-D", self.data,
                     "-l", self.log_path, "-o", f"-p {self.port} -k {self.directory}")

    def processes(self):
        """The process ids of the server and its children."""
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
                postmaster = int(file.readline())
        except (OSError, ValueError):
            return []
        found = [postmaster]
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == postmaster:
                        found.append(int(name))
            except OSError:
                continue
        return found

    def _signal(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue

    def pause(self):
        """SIGSTOP to all of it."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        """SIGCONT to all of it."""
        self._signal(signal.SIGCONT)

    def crash(self):
        """SIGKILL to all of it, as when the machine crashes."""
        pids = self.processes()
        self._signal(signal.SIGKILL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any(map(_lives, pids)):
            time.sleep(0.02)
        for path in (os.path.join(self.data, "postmaster.pid"),
                     os.path.join(self.directory, f".s.PGSQL.{self.port}.lock")):
            if os.path.exists(path):
                os.remove(path)

    def query(self, sql):
        """The rows of a query, each a list of texts."""
        done = subprocess.run([f"{PROGRAMS}/psql", "-X", "-A", "-t", "-q", "-F", "\t",
                               self.connection, "-v", "ON_ERROR_STOP=1", "-c", sql],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{sql}: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines() if line]

    def leases(self):
        """{address: row} of the table, with the fields of `ringdhcp leases`."""
        rows = self.query(
            "SELECT host(address), subnet_id, state, version, extract(epoch FROM starts)::bigint, "
            "CASE WHEN isfinite(expires) THEN extract(epoch FROM expires)::bigint END, "
            "hardware_type, hardware_address, encode(coalesce(client_id, ''), 'hex'), "
            "coalesce(hostname, ''), encode(coalesce(relay_information, ''), 'hex') "
            "FROM ringdhcp.leases")
        return {row[0]: {
            "address": row[0], "subnet": int(row[1]), "state": row[2], "version": int(row[3]),
            "starts": int(row[4]), "expires": int(row[5]) if row[5] else None,
            "hardware_type": int(row[6]), "hardware_address": row[7], "client_id": row[8],
            "host_name": row[9], "relay_information": row[10]} for row in rows}

    def log(self):
        """What the server wrote."""
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return ") Z" not in file.read()
    except OSError:
        return False
