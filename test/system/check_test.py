"""`ringdhcp check`: every mistake at once, each with its place and a suggestion."""

import os
import re
import subprocess

import server
import system_test
from system_test import options, say

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy",
                        "examples")
_LOCATED = re.compile(r"^(\S+):(\d+):(\d+): (.*)$", re.M)


def check(path):
    """(exit code, everything printed) of `ringdhcp check`."""
    done = subprocess.run([options.server, "check", path], capture_output=True, text=True,
                          timeout=10, check=False)
    return done.returncode, done.stdout + done.stderr


class CheckTest(system_test.SystemTest):
    """Runs no server."""

    def test_five_mistakes(self):
        """deploy/examples/five-mistakes.yaml: five errors at the marked lines, exit 1"""
        path = os.path.join(EXAMPLES, "five-mistakes.yaml")
        with open(path, encoding="utf-8") as file:
            marked = [number for number, line in enumerate(file, 1) if re.search(r"# \d:", line)]
        self.assertEqual(len(marked), 5)
        code, text = check(path)
        print(text)
        found = _LOCATED.findall(text)
        self.assertEqual(code, 1)
        self.assertEqual([int(line) for _, line, _, _ in found], marked)
        for (name, _, column, message), right in zip(found, (
                "include", "192.0.2.0/24", "198.51.100.10-198.51.100.126", "3600", "local")):
            self.assertTrue(name.endswith("five-mistakes.yaml"), name)
            self.assertGreater(int(column), 0)
            self.assertRegex(message, rf"did you mean '?{re.escape(right)}'?\?")
        say("five errors, each at its line, each with the right suggestion")

    def test_good_example(self):
        """the complete example passes, exit 0"""
        code, text = check(os.path.join(EXAMPLES, "ringdhcp.yaml"))
        self.assertEqual((code, _LOCATED.findall(text)), (0, []), text)
        say(text.strip().rsplit("/", 1)[-1])

    def test_unreadable(self):
        """a missing file, a directory, no YAML, an empty file: said so, exit 1"""
        work = server.work_directory()
        for name, content in (("torn.yaml", "subnets: [{id: 1,\n"), ("empty.yaml", ""),
                              ("binary.yaml", "\0\1\2")):
            with open(os.path.join(work, name), "w", encoding="utf-8") as file:
                file.write(content)
        for name in ("missing.yaml", ".", "torn.yaml", "empty.yaml", "binary.yaml"):
            path = os.path.join(work, name)
            code, text = check(path)
            self.assertEqual(code, 1, f"{name}: {text}")
            self.assertIn(path, text)
            say(text.strip().splitlines()[0].replace(work, "DIRECTORY"))

    def test_leases_of_no_store(self):
        """`leases` of a directory without a store says so, and leaves it as it is"""
        work = server.work_directory()
        for path in (work, os.path.join(work, "missing")):
            done = subprocess.run([options.server, "leases", "--data", path], capture_output=True,
                                  text=True, timeout=10, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(path, done.stderr)
        self.assertEqual(os.listdir(work), [])

    def test_serve_refuses_what_check_refuses(self):
        """`serve` prints the same errors and does not start"""
        path = os.path.join(EXAMPLES, "five-mistakes.yaml")
        done = subprocess.run([options.server, "serve", "--config", path], capture_output=True,
                              text=True, timeout=10, check=False)
        self.assertEqual((done.returncode, len(_LOCATED.findall(done.stderr))), (1, 5))


if __name__ == "__main__":
    system_test.main(timeout_seconds=30)
