"""Sizes, guards and forbidden marks (server/STYLE.md)."""
import re
import unittest

import tree

LINES_MAX = 800
COLUMNS_MAX = 100
MARKS = re.compile("|".join(["TO" + "DO", "FIX" + "ME", r"\bX" + r"XX\b", "GTEST_" + "SKIP",
                             "DIS" + "ABLED_"]))


class ShapeTest(unittest.TestCase):
    def test_files_and_lines_are_short(self):
        for path in tree.sources(*tree.CODE, suffixes=(".h", ".cc", ".py")):
            lines = path.read_text().splitlines()
            self.assertLessEqual(len(lines), LINES_MAX, tree.name(path))
            for number, line in enumerate(lines, 1):
                where = f"{tree.name(path)}:{number}"
                self.assertLessEqual(len(line), COLUMNS_MAX, where)
                self.assertNotIn("\t", line, where)
                self.assertEqual(line, line.rstrip(), where)

    def test_header_guards_name_the_file(self):
        for path in tree.sources(*tree.CODE, suffixes=(".h",)):
            guard = "RINGDHCP_" + re.sub(r"[/.]", "_", tree.name(path)).upper() + "_"
            text = path.read_text()
            self.assertIn(f"#ifndef {guard}\n#define {guard}\n", text, tree.name(path))
            self.assertTrue(text.endswith(f"#endif  // {guard}\n"), tree.name(path))

    def test_no_unfinished_work(self):
        for path in tree.sources(*tree.CODE, "proto", suffixes=(".h", ".cc", ".py", ".proto")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                self.assertIsNone(MARKS.search(line), f"{tree.name(path)}:{number}: {line}")

    def test_a_source_includes_its_own_header_first(self):
        for path in tree.sources("server", "storage"):
            header = path.with_suffix(".h")
            if path.suffix != ".cc" or not header.exists():
                continue
            first = next(tree.includes(path))[1]
            self.assertEqual(first, tree.name(header), tree.name(path))


if __name__ == "__main__":
    unittest.main(verbosity=2)
