"""The package stays small."""

import ast
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "bookend_fleet"
# A reader can judge in one sitting what will run on each node of a cluster.
LINES_OF_CODE = 250


def lines_of_code(text: str) -> int:
    """The lines that are not blank, no comment and not part of a docstring."""
    numbers = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            numbers -= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(numbers)


class Size(unittest.TestCase):
    def test_only_code_is_counted(self) -> None:
        text = '"""A\nmodule."""\n\n# A reason.\ndef f() -> str:\n    """Is one."""\n    return """\n# text"""\n'
        self.assertEqual(lines_of_code(text), 2)

    def test_the_package_is_within_its_limit(self) -> None:
        counted = sum(lines_of_code(file.read_text()) for file in PACKAGE.glob("*.py"))
        self.assertLessEqual(counted, LINES_OF_CODE)


if __name__ == "__main__":
    unittest.main()
