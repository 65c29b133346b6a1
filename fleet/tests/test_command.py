"""The command line, without Ray."""

import contextlib
import io
import unittest
from unittest import mock

from bookend_fleet import command


class CommandLine(unittest.TestCase):
    def refused(self, *words: str) -> str:
        """What is said of a command line that makes no sense."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            command.parse(list(words))
        self.assertEqual(end.exception.code, 2)
        return said.getvalue()

    def test_words_before_load_are_options_and_those_after_it_are_not(self) -> None:
        words = ["--address", "a:1", "--agents", "2", "--port", "7", "load", "--port", "8", "load", "-d", "-", "--", "x"]
        request = command.parse(words)
        self.assertEqual((request.address, request.port, len(request.places)), ("a:1", 7, 2))
        self.assertEqual(request.words, ["--port", "8", "load", "-d", "-", "--", "x"])

    def test_labels_are_for_the_server_or_for_all_others(self) -> None:
        options = ["--server-label", "x=1", "--server-label", "y=2", "--generator-label", "z.io/a=3"]
        request = command.parse(["--address", "a:1", *options, "load", "--server-agent"])
        self.assertEqual([place.labels for place in request.places], [{"x": "1", "y": "2"}, {"z.io/a": "3"}])

    def test_mistakes_are_named(self) -> None:
        self.assertIn("--address", self.refused("load", "x"))
        self.assertIn("required: load", self.refused("--address", "a:1"))
        self.assertIn("flags of bookend load follow load", self.refused("--address", "a:1", "load"))
        self.assertIn("--agents be 1 or more", self.refused("--address", "a:1", "--agents", "0", "load", "x"))
        self.assertIn("x=!y is not key=value", self.refused("--address", "a:1", "--server-label", "x=!y", "load", "x"))

    def test_a_python_without_ray_is_told_what_to_install(self) -> None:
        with mock.patch.object(command, "find_spec", return_value=None), self.assertRaises(SystemExit) as end:
            command.main(["--address", "a:1", "load", "x"])
        self.assertIn("This Python has no Ray: run pip install", str(end.exception))


if __name__ == "__main__":
    unittest.main()
