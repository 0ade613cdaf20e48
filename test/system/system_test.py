"""The frame of every system test: options, a time limit, and clean-up whatever happens."""

import argparse
import os
import sys
import time
import unittest

import cleanup
import namespace

options = argparse.Namespace()


def say(text):
    """Prints what a test measured or checked, at once."""
    print(f"    {text}", flush=True)


def wait_until(condition, timeout_seconds, interval_seconds=0.05):
    """The first true value of condition(), or its last value when the time is over."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        value = condition()
        if value or time.monotonic() >= deadline:
            return value
        time.sleep(interval_seconds)


class SystemTest(unittest.TestCase):
    """A test that undoes what it made: servers, clients, namespaces, directories."""

    def setUp(self):
        print(f"{self.id().split('.', 1)[-1]}: {self.shortDescription() or ''}", flush=True)
        self._height = cleanup.mark()
        self._on_failure = []

    def run(self, result=None):
        failures = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > failures:
            for text in getattr(self, "_on_failure", []):
                print(text(), file=sys.stderr, flush=True)
        cleanup.unwind(getattr(self, "_height", cleanup.mark()))

    def show_on_failure(self, text):
        """Registers text() -> str: what to print if this test fails, before the clean-up."""
        self._on_failure.append(text)


def main(timeout_seconds, **more):
    """Runs the tests of the calling file. `more` adds numeric options: name=default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True, help="the ringdhcp program")
    parser.add_argument("--limit", type=int, default=timeout_seconds, help="seconds in all")
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("tests", nargs="*", help="CLASS or CLASS.TEST; all if absent")
    parser.parse_args(namespace=options)
    options.server = os.path.abspath(options.server)
    if os.geteuid() != 0:
        sys.exit("the system tests make network namespaces: run them as root")
    cleanup.install(options.limit)
    namespace.sweep()
    unittest.main(argv=sys.argv[:1] + options.tests, verbosity=1)
