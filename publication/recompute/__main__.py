"""Recomputes what claims.md, its neighbours and the README say, from the raw rounds of records/ and
the published tables of suites/, with nothing of the product's code. Python 3.11 or newer.

`--tests`: the tests beside this file first. Status 1 where a page and the raw rounds disagree, a
line for each place."""

import sys
import unittest
from pathlib import Path

import audits
import changed
import found
import heads
import pages
import pictures
import readme
import verdicts
from documents import Document
from findings import Findings
from rounds import repeated_folder

ROOT = Path(__file__).resolve().parents[2]


class Pages:
    """The texts that are compared; tests change a word of one of them."""

    def __init__(self, root=ROOT):
        kept = root / "records" / "pages"
        names = ("reasons", "expectations", "repeated", "changed-verdicts", "audit")
        self.texts = {name: (kept / f"{name}.md").read_text() for name in names}
        self.texts["claims"] = (root / "docs" / "measure" / "claims.md").read_text()
        self.texts["readme"] = (root / "README.md").read_text()

    def __getitem__(self, name):
        return self.texts[name]


class Recomputed:
    """Every document's claims, of the first run and of a second one where there is one."""

    def __init__(self, root=ROOT):
        self.root = root
        records = self.records = root / "records"
        folders = [file.parent for file in sorted(root.glob("suites/*/claims.toml"))]
        self.documents = {folder.name: Document(folder, records) for folder in folders}
        self.judged = {name: document.judged() for name, document in self.documents.items()}
        self.repeated = {
            folder.name: Document(folder, records, repeated_folder(records, folder.name)).judged()
            for folder in folders
            if (repeated_folder(records, folder.name) / folder.name).is_dir()
        }

        for name, again in self.repeated.items():
            for one, other in zip(self.judged[name], again):
                one.again = other
                for answer, second in zip(one.answers, other.answers):
                    answer.again = second

    def published(self):
        """Without those of expectations, which no document has."""
        is_published = lambda name: not self.documents[name].about.get("expectations")
        return {name: claims for name, claims in self.judged.items() if is_published(name)}


def check(texts, ours):
    findings = Findings()
    published = ours.published()
    for name, document in ours.documents.items():
        page = texts["claims" if name in published else "expectations"]
        pages.check_document(page, texts["reasons"], document, ours.judged[name], findings)
        results = (document.folder / "RESULTS.md").read_text()
        verdicts.check(results, name, ours.judged[name], findings)
    heads.check_head(texts["claims"], published.values(), findings)
    heads.check_tallies(texts["claims"], published, findings)
    heads.check_chance(texts["claims"], published, findings)
    changed.check_changes(texts["changed-verdicts"], published, findings)
    for name, again in ours.repeated.items():
        changed.check_repeated(texts["repeated"], name, ours.judged[name], again, findings)
    for name in published:
        audits.check_notes(texts["audit"], name, ours.judged[name], findings)
        audits.check_in_flight(texts["audit"], ours.documents[name], findings)
        audits.check_models(texts["audit"], ours.documents[name], findings)
        audits.check_audit(texts["audit"], ours.documents[name], findings)
    readme.check(texts["readme"], ours, findings)
    found.check_pages(ROOT, ours, findings)
    pictures.check(texts["readme"], ROOT, ours, findings)
    return findings


def run_tests():
    """The tests beside this file; prints the closing line that `make test` adds up."""
    here = str(Path(__file__).parent)
    tests = unittest.defaultTestLoader.discover(here, top_level_dir=here)
    result = unittest.TextTestRunner().run(tests)
    failed = len(result.failures) + len(result.errors)
    print(f"test result: {max(result.testsRun - failed, 0)} passed; {failed} failed;")
    return failed == 0


def main():
    is_tested = "--tests" not in sys.argv or run_tests()
    findings = check(Pages(), Recomputed())
    for line in findings.wrong:
        print(line)
    print(findings.summary())
    return 1 if findings.wrong or not is_tested else 0


if __name__ == "__main__":
    sys.exit(main())
