"""Whichever digit, outcome or number of a page is changed, the change is caught."""

import importlib.util
import re
import tomllib
import unittest
from pathlib import Path

import audits
import changed
import found
import heads
import pages
import pictures
import readme
import rules
import sentences
import tables
import verdicts
from findings import Findings

# By its file: `__main__` is another module while tests run.
spec = importlib.util.spec_from_file_location("recompute", Path(__file__).with_name("__main__.py"))
recompute = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recompute)

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def with_another_digit(text, end):
    """`text` with another digit before `end`: not the next one, which a figure in the middle of two
    may be printed as."""
    return text[: end - 1] + str((int(text[end - 1]) + 5) % 10) + text[end:]


def other_numbers(text, spans=None):
    """Every number of a text, or of spans of it, with the text in which its last digit differs."""
    for start, stop in spans or [(0, len(text))]:
        for match in NUMBER.finditer(text, start, stop):
            around = text[max(match.start() - 25, 0) : match.end() + 10]
            yield around, with_another_digit(text, match.end())


def other_outcomes(text, words):
    for match in re.finditer("|".join(sorted(map(re.escape, words), key=len, reverse=True)), text):
        word = next(word for word in words if word != match.group())
        yield match.group(), text[: match.start()] + word + text[match.end() :]


def rows_of(text, start, end):
    """The spans of a table's lines without their names and headings."""
    for match in re.finditer(r"^\| [a-z]\S* +(\|[^a-z\n]*\d.*)$", text[start:end], re.MULTILINE):
        yield start + match.start(1), start + match.end(1)


class Each(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = recompute.Pages()
        cls.ours = recompute.Recomputed()
        recompute.check(cls.pages, cls.ours)

    def setUp(self):
        self.changes = 0

    def assert_each_told(self, unchanged, changes, check, given=0):
        """`check(text)` must find something in each changed text, but for so many, that it does not
        find in the unchanged one."""
        before, missed, count = Findings(), [], 0
        check(unchanged, before)
        for what, text in changes:
            findings = Findings()
            check(text, findings)
            count += 1
            if not set(findings.wrong) - set(before.wrong):
                missed.append(what)
        self.assertLessEqual(len(missed), given, f"{missed}: of {count} changes these are not told")
        self.changes += count

    def claims(self):
        """Every claim with its document and its paragraph."""
        for suite, document in self.ours.documents.items():
            page = self.pages["claims" if suite in self.ours.published() else "expectations"]
            section = lambda page: pages.section(page, document.about["title"])
            found = pages.paragraphs(section(self.pages["reasons"]))
            rows = tables.table_rows(section(page))
            for one in heads.sentences(self.ours.judged[suite]):
                yield document, one, found[one.claim["id"]], tables.claim_row(rows, one.claim)

    def test_each_number_of_each_claim(self):
        for document, one, text, _ in self.claims():
            after = [(text.index("Printed: "), len(text))]
            check = lambda text, found: pages.check_paragraph("", text, one, document, found)
            unchanged = Findings()
            check(text, unchanged)
            given = unchanged.taken.get(sentences.MARKS_OF_AUDIT, 0)
            with self.subTest(one.claim["id"]):
                self.assert_each_told(text, other_numbers(text, after), check, given)
        self.assertGreater(self.changes, 1500)

    def test_each_outcome_of_each_claim(self):
        for document, one, text, _ in self.claims():
            bold = [f"**{word}**" for word in tables.SHORT]
            check = lambda text, found: pages.check_paragraph("", text, one, document, found)
            with self.subTest(one.claim["id"]):
                self.assert_each_told(text, other_outcomes(text, bold), check)

    def test_each_number_and_outcome_of_each_table(self):
        words = list(tables.SHORT.values())
        for _, one, _, row in self.claims():
            others = lambda text: [*other_numbers(text), *other_outcomes(text, words)]
            changes = [
                (what, row[:place] + [text] + row[place + 1 :])
                for place in range(2, len(row))
                for what, text in others(row[place])
            ]
            changes.append(("the mark", ["" if row[0] else "!", *row[1:]]))
            check = lambda row, found: tables.check_cells("", row, one, found)
            with self.subTest(one.claim["id"]):
                self.assert_each_told(row, changes, check)

    def test_each_number_and_outcome_of_each_page_of_a_suite(self):
        words = list(tables.SHORT.values())
        for suite, document in self.ours.documents.items():
            page = (document.folder / "RESULTS.md").read_text()
            judged, start = self.ours.judged[suite], page.index("## Verdicts")
            text = page[start : page.index("\n## ", start + 5)]
            tally = [re.search(r"Of \d+ claims:[^|]*", text).span()]
            rows = re.finditer(r"^\|[^|]*\|[^|]*(\|(?! they| exp| ---).*)$", text, re.MULTILINE)
            lines = [match.span(1) for match in rows if "| same" not in match.group()]
            spans = [(0, tally[0][0]), *tally, *lines]
            outcomes = [one for one in other_outcomes(text, words) if one[1].count("\n|")]
            check = lambda text, found: verdicts.check(text, suite, judged, found)
            with self.subTest(suite):
                self.assert_each_told(text, [*other_numbers(text, spans), *outcomes], check)
        self.assertGreater(self.changes, 400)

    def test_each_number_at_the_head(self):
        page = self.pages["claims"]
        start = page.index("## Findings")
        head = [(start, page.index("\n## ", start))]
        judged = self.ours.published().values()
        check = lambda text, found: heads.check_head(text, judged, found)
        self.assert_each_told(page, other_numbers(page, head), check)

    def test_a_sentence_at_the_head_whose_premise_did_not_happen(self):
        told = 0
        for claims in self.ours.published().values():
            for one in (one for one in heads.sentences(claims) if "finding" in one.claim):
                if not one.is_told("finding"):
                    sentence = re.sub(r"\{\w+\}", "1.5", one.claim["finding"]["text"])
                    page = f"## Findings\n\n- {sentence}\n"
                    findings = Findings()
                    heads.check_head(page, [[one]], findings)
                    self.assertTrue(findings.wrong, sentence)
                    told += 1
        self.assertGreater(told, 0)

    def test_a_sentence_at_the_head_that_no_claim_has(self):
        findings = Findings()
        page = "## Findings\n\n- All is well.\n"
        heads.check_head(page, [], findings)
        self.assertIn("All is well.", findings.wrong[0])

    def test_each_tally(self):
        page, published = self.pages["claims"], self.ours.published()
        lines = re.finditer(r"^\| \[[a-z-]+\]\(#\S+\)(.*)$", page, re.MULTILINE)
        spans = [match.span(1) for match in lines]
        check = lambda text, found: heads.check_tallies(text, published, found)
        self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_number_of_what_intervals_decide(self):
        page, published = self.pages["claims"], self.ours.published()
        spans = [re.search(r"Intervals decide \d+|about \d+ of them to", page).span()]
        check = lambda text, found: heads.check_chance(text, published, found)
        self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_outcome_that_changed(self):
        page, published = self.pages["changed-verdicts"], self.ours.published()
        words = [f"; now {word}" for word in tables.SHORT]
        changes = list(other_outcomes(page, words))[::5]
        check = lambda text, found: changed.check_changes(text, published, found)
        self.assert_each_told(page, changes, check)
        clauses = re.finditer(r"; now (.*?)\. [A-Z]", page, re.DOTALL)
        spans = [match.span(1) for match in clauses if " failed at" in match.group()]
        self.assertGreater(len(spans), 5)
        self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_number_of_a_second_run(self):
        page = self.pages["repeated"]
        for suite, again in self.ours.repeated.items():
            first = self.ours.judged[suite]
            start = page.index(f"## {first[0].title}")
            spans = [(start, page.find("\n## ", start) % (len(page) + 1))]
            check = lambda text, found: changed.check_repeated(text, suite, first, again, found)
            self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_figure_of_the_audits_notes(self):
        page = self.pages["audit"]
        for suite in self.ours.published():
            section = pages.section(page, self.ours.documents[suite].about["title"])
            notes = section.partition("### Noticed besides")[2].partition("###")[0]
            judged = self.ours.judged[suite]
            if notes:
                start = page.index(notes)
                figures = re.compile(r"(?:Ours|table): (?:.*?)\.\s", re.DOTALL)
                found = figures.finditer(page, start, start + len(notes))
                spans = [match.span() for match in found]
                check = lambda text, found: audits.check_notes(text, suite, judged, found)
                self.assert_each_told(page, other_numbers(page, spans), check)

    def test_calls_in_flight(self):
        page = self.pages["audit"]
        for suite in self.ours.published():
            document = self.ours.documents[suite]
            check = lambda text, found: audits.check_in_flight(text, document, found)
            for row in document.rows:
                name = re.escape(row.place)
                line = re.search(rf"^\| {name} \| ([\d.]+ to [\d.]+) \|", page, re.MULTILINE)
                if line:
                    self.assert_each_told(page, other_numbers(page, [line.span(1)]), check)

    def test_each_number_of_a_finding_of_the_audit(self):
        page, rules_of_ours = self.pages["audit"], "|".join(rules.RULES)
        for suite in self.ours.published():
            document = self.ours.documents[suite]
            start = page.index(f"\n## {document.about['title']}\n")
            end = page.find("\n## ", start + 5)
            lines = re.compile(rf"^\| `(?:{rules_of_ours})` \| (.*) \|$", re.MULTILINE)
            spans = [match.span(1) for match in lines.finditer(page, start, end)]
            if spans:
                check = lambda text, found: audits.check_audit(text, document, found)
                self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_prediction_of_a_model(self):
        page, document = self.pages["audit"], self.ours.documents["java-executors"]
        lines = re.finditer(r"^\| [a-z-]+: .*? \| [^|]*(\|.*)\|$", page, re.MULTILINE)
        spans = [match.span(1) for match in lines]
        check = lambda text, found: audits.check_models(text, document, found)
        self.assert_each_told(page, other_numbers(page, spans), check)

    def test_each_number_of_what_was_found(self):
        for file in sorted(recompute.ROOT.glob("suites/*/results.toml")):
            declared = tomllib.loads(file.read_text())
            page, suite = file.with_name("RESULTS.md"), file.parent.name
            if "{" in declared.get("found", "") and page.is_file():
                text = " ".join(page.read_text().split())
                if found.NO_FINDING in text:
                    continue
                span = found.sentence_in(text, declared).span()
                check = lambda text, findings: self.check_found(text, suite, declared, findings)
                with self.subTest(suite):
                    self.assert_each_told(text, other_numbers(text, [span]), check)

    def check_found(self, text, suite, declared, findings):
        if found.check_found(text, suite, declared, self.ours, findings) == text:
            findings.unknown(suite, "nothing found")

    def test_each_number_of_the_picture(self):
        svg = (recompute.ROOT / "docs/pictures/three-generators-light.svg").read_text()
        record = self.ours.documents["helloworld-profile"].own
        texts = re.finditer(r">([^<]*(?: /s|CPU-second of the server))<", svg)
        spans = [match.span(1) for match in texts]
        check = lambda text, found: pictures.check_picture("", text, record, "C=1 S=100", found)
        self.assert_each_told(svg, other_numbers(svg, spans), check)

    def test_each_number_of_the_readme(self):
        text = self.pages["readme"]
        prose = readme.NO_PROSE.sub(lambda match: " " * len(match.group()), text)
        number = r"(?<![\w/.])\d[\d.,]*\d|(?<![\w/.,])\d"
        numbers = [match.span() for match in re.finditer(number, prose)]
        tables = readme.TABLE.finditer(text)
        rows = [span for table in tables for span in rows_of(text, *table.span())]
        check = lambda text, found: readme.check(text, self.ours, found)
        self.assert_each_told(text, other_numbers(text, numbers + rows), check)

    def test_a_new_number_of_the_readme(self):
        findings = Findings()
        readme.check(self.pages["readme"] + "\nIt is 7 times better.\n", self.ours, findings)
        self.assertTrue(any("7 times" in line for line in findings.wrong), findings.wrong)


if __name__ == "__main__":
    unittest.main()
