"""README.md lists every metric and every reason for a drop, with the meaning the code gives it."""
import re
import unittest

import tree

README = (tree.ROOT / "README.md").read_text()


def table_rows(path, macro, fields):
    text = (tree.ROOT / path).read_text()
    text = text.split(f"#define {macro}(X)")[1].split("enum class")[0].replace("\\\n", "\n")
    pattern = r"X\(\s*\w+,\s*" + r",\s*".join([r'("(?:[^"]*)"|\w+)'] * fields) + r"\s*\)"
    rows = [[value.strip('"') for value in row] for row in re.findall(pattern, text)]
    assert len(rows) == len(re.findall(r"\bX\(", text)), path
    return rows


class DocumentedTest(unittest.TestCase):
    def test_drop_reasons(self):
        rows = table_rows("server/dhcp4/drop_reason.h", "RINGDHCP_DROP_REASONS", 2)
        expected = [f"| `{label}` | {meaning} |" for label, meaning in rows]
        section = README.split("| reason | meaning |")[1].split("\n\n")[0].strip().splitlines()[1:]
        self.assertEqual(section, expected)

    def test_metrics(self):
        rows = table_rows("server/admin/metric_names.h", "RINGDHCP_METRICS", 4)
        expected = [f"| `{name}` | {kind.lower()} | {labels} | {meaning} |"
                    for name, kind, labels, meaning in rows]
        section = README.split("| metric | type | labels | meaning |")[1].split("\n\n")[0]
        self.assertEqual(section.strip().splitlines()[1:], expected)

    def test_every_drop_reason_is_used(self):
        names = re.findall(r"X\((k\w+),", (tree.ROOT / "server/dhcp4/drop_reason.h").read_text())
        code = "".join(p.read_text() for p in tree.sources("server") if p.name != "drop_reason.h")
        for reason in names:
            self.assertTrue(f"DropReason::{reason}" in code, f"nothing gives {reason}")

    def test_files_that_the_documents_name_exist(self):
        for document in ("README.md", "server/ARCHITECTURE.md", "server/STYLE.md"):
            text = (tree.ROOT / document).read_text()
            for target in re.findall(r"\]\(([^)#:]+)\)", text):
                self.assertTrue((tree.ROOT / target).exists(), f"{document}: {target}")
            for target in re.findall(r"`((?:server|storage|deploy|test|proto)/[\w./-]+)`", text):
                self.assertTrue((tree.ROOT / target).exists(), f"{document}: {target}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
