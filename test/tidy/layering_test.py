"""Dependencies go one way, and the pure directories stay pure (server/ARCHITECTURE.md)."""
import re
import unittest

import tree

# Directory -> the directories whose headers it may include besides its own.
MAY_INCLUDE = {
    "server/base": set(),
    "server/dhcp4": {"server/base"},
    "server/lease": {"server/base", "server/dhcp4"},
    "server/sched": {"server/base", "server/dhcp4"},
    "server/config": {"server/base", "server/dhcp4", "server/lease", "proto"},
    "server/io": {"server/base"},
    "storage": {"server/base", "server/dhcp4", "server/lease"},
    "storage/memory": {"server/base", "server/dhcp4", "server/lease", "storage"},
    "storage/local": {"server/base", "server/dhcp4", "server/lease", "storage", "proto"},
    "storage/postgres": {"server/base", "server/dhcp4", "server/lease", "storage"},
    "server/shard": {"server/base", "server/dhcp4", "server/lease", "server/sched", "server/config",
                     "server/io", "storage"},
    "server/admin": {"server/base", "server/lease", "server/config", "server/io", "server/shard",
                     "storage", "storage/memory", "storage/local", "storage/postgres"},
    "server": {"server/admin"},
}
# Of server/lease, what storage may know is the row.
STORAGE_LEASE_HEADERS = {"server/lease/lease.h"}

PURE = ("server/base", "server/dhcp4", "server/lease", "server/sched", "storage/commit_queue")
IMPURE = re.compile(
    r"#include <(thread|mutex|shared_mutex|condition_variable|future|fstream|iostream|filesystem|"
    r"chrono|ctime|random|csignal|sys/[^>]+|unistd\.h|fcntl\.h|poll\.h|netinet/[^>]+|arpa/[^>]+|"
    r"net/[^>]+|linux/[^>]+|liburing[^>]*|libmnl/[^>]+|pthread\.h|time\.h)>"
    r"|#include \"(spdlog|rocksdb|pqxx|libpq-fe|prometheus|yaml-cpp)/"
    r"|\b(clock_gettime|gettimeofday|getenv|rand|printf|usleep)\s*\(")
# std::atomic in server/base/counter.h, and abort with a message in check.cc, are the exceptions.
PURE_EXCEPT = {"server/base/check.cc"}


class LayeringTest(unittest.TestCase):
    def test_includes_follow_the_layers(self):
        for path in tree.sources("server", "storage"):
            directory = tree.name(path.parent)
            allowed = MAY_INCLUDE[directory] | {directory}
            for number, included in tree.includes(path):
                if not included.startswith(("server/", "storage/", "proto/", "test/")):
                    continue
                target = included.rpartition("/")[0]
                where = f"{tree.name(path)}:{number}: {included}"
                self.assertIn(target, allowed, where)
                if directory.startswith("storage") and target == "server/lease":
                    self.assertIn(included, STORAGE_LEASE_HEADERS, where)

    def test_pure_directories_have_no_io_threads_or_clocks(self):
        checked = 0
        for path in tree.sources("server", "storage"):
            if not tree.name(path).startswith(PURE) or tree.name(path) in PURE_EXCEPT:
                continue
            checked += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                code = line if line.startswith("#") else tree.without_comments_and_strings(line)
                self.assertIsNone(IMPURE.search(code), f"{tree.name(path)}:{number}: {line}")
        self.assertGreater(checked, 30)

    def test_production_code_knows_no_tests(self):
        for path in tree.sources("server", "storage"):
            for number, included in tree.includes(path):
                self.assertFalse(included.startswith(("test/", "gtest/", "gmock/")),
                                 f"{tree.name(path)}:{number}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
