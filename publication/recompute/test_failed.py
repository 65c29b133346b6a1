"""Calls that failed beside an outcome: each share and each cell is compared."""

import unittest
from pathlib import Path

import failed
from documents import Document
from findings import Findings

ROOT = Path(__file__).resolve().parents[2]


class Failed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        document = Document(ROOT / "suites" / "pajamax-tonic", ROOT / "records")
        claim = next(one for one in document.claims if one["id"] == "ten-times")
        cls.answer = document.judge(claim).answers[0]
        told = {}
        for (name, case), share in failed.shares(cls.answer).items():
            if share > failed.TOLD_ABOVE:
                told.setdefault(name, []).append((share, case))
        cls.clause = ", while " + " and ".join(cls.told(*one) for one in told.items())

    @staticmethod
    def told(name, cells):
        """As the page has it: `23.9 % to 28.5 % of X's calls failed at CASE, CASE and CASE`."""
        shares, cases = zip(*cells)
        low, high = (f"{end * 100:.1f} %" for end in (min(shares), max(shares)))
        several = low if low == high else f"{low} to {high}"
        listed = ", ".join(cases[:-1]) + (" and " if cases[1:] else "") + cases[-1]
        return f"{several} of {name}'s calls failed at {listed}"

    def wrong(self, clause):
        findings = Findings()
        failed.check_clauses("here", clause, failed.shares(self.answer), findings)
        return findings.wrong

    def test_a_quarter_of_the_calls_and_more(self):
        self.assertIn("23.9 %", self.clause)
        self.assertEqual(self.wrong(self.clause), [])
        for old, new in (("23.9", "24.0"), ("C=1 S=1000", "C=1 S=100"), ("pajamax", "tonic")):
            changed = self.clause.replace(old, new, 1)
            self.assertTrue(self.wrong(changed), changed)
        self.assertTrue(self.wrong(""), "nothing is told")

    def test_a_field_of_a_table(self):
        most = max(failed.shares(self.answer).values())
        for field, is_right in ((f"{most * 100:.1f} %", True), ("12.3 %", False), ("-", False)):
            findings = Findings()
            failed.check_field("here", field, [self.answer], findings)
            self.assertEqual(not findings.wrong, is_right, field)

    def test_a_text_without_its_clauses(self):
        text = f"replicated{self.clause}: 8.84 to 11.1 in 3 cases"
        self.assertEqual(failed.without(text), "replicated: 8.84 to 11.1 in 3 cases")

    def test_no_share_is_printed_as_none_or_all_that_is_not(self):
        self.assertTrue(failed.shows("<0.1 %", 0.0004) and failed.shows(">99.9 %", 0.9996))
        self.assertFalse(failed.shows("<0.1 %", 0.0) or failed.shows("<0.1 %", 0.001))
        self.assertFalse(failed.shows("<0.2 %", 0.0004) or failed.shows(">98.9 %", 0.9996))


if __name__ == "__main__":
    unittest.main()
