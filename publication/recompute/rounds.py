"""Records: the raw rounds of every cell, and the shares of kept profiles."""

import csv
import functools
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

OUR_GENERATOR = "bookend-load"


@dataclass(frozen=True)
class Name:
    """`rust-tonic via ghz`; without an instrument: our generator, or the only one."""

    subject: str
    instrument: str | None

    @staticmethod
    def parse(text):
        subject, _, instrument = text.partition(" via ")
        return Name(subject, instrument or None)


@dataclass(eq=False)
class Record:
    facts: dict
    rows: list
    profile: list = field(default_factory=list)
    evaluations: dict = field(default_factory=dict)  # of quantities, as they are asked for

    def __post_init__(self):
        self.rounds = self.facts["plan"]["rounds"]
        self.cells = {}
        deadline_ms = self.facts["plan"].get("deadline_ms")
        for row in self.rows:
            cell = row["cell"]
            row["outcome"]["deadline_ns"] = deadline_ms and deadline_ms * 1e6
            run = row["round"] // self.rounds
            instruments = self.cells.setdefault((run, cell["subject"], cell["case"]), {})
            instruments.setdefault(cell["instrument"], []).append(row)
        self.runs = sorted({run for run, _, _ in self.cells})

    def rows_in(self, run, name, case):
        """The rows of a cell in one run of a record that may be joined of several."""
        instruments = self.cells.get((run, name.subject, case), {})
        only = next(iter(instruments), None) if len(instruments) == 1 else OUR_GENERATOR
        return instruments.get(name.instrument or only, [])

    def rows_of(self, own, other=None):
        """The rows of a cell in the first run that has it and `other`, if the record has that."""
        if other and not any(self.rows_in(run, *other) for run in self.runs):
            other = None
        for run in self.runs:
            rows = self.rows_in(run, *own)
            if rows and (other is None or self.rows_in(run, *other)):
                return rows
        return []

    def shares_of(self, name, case):
        """The line of split.csv of a cell, with its functions."""
        own = [r for r in self.profile if (r["subject"], r["case"]) == (name.subject, case)]
        only = own[0]["instrument"] if len(own) == 1 else OUR_GENERATOR
        return next((r for r in own if r["instrument"] == (name.instrument or only)), None)


@functools.cache
def read(folder, suite, extent="full"):
    """The record of a suite with its profile; None without one."""
    for name in (f"{extent}.jsonl", f"{extent}.jsonl.zst"):
        file = suite_folder(Path(folder), suite) / name
        if file.is_file():
            facts, *rows = (json.loads(line) for line in text_of(file).splitlines())
            return Record(facts, rows, profile_of(file.parent / "profile"))
    return None


def suite_folder(folder, suite):
    """Of the first host in `hosts.txt` that has the suite; without that file, in the folder."""
    hosts = folder / "hosts.txt"
    names = hosts.read_text().split() if hosts.is_file() else []
    folders = [folder / name / suite for name in names]
    return next((own for own in folders if own.is_dir()), folder / suite)


def repeated_folder(folder, suite):
    """The folder in which a second run of the suite is, if there was one."""
    return suite_folder(folder, suite).parent / "repeated"


def profile_of(folder):
    """The lines of split.csv, with the shares of the functions that profile.json names."""
    if not (folder / "split.csv").is_file():
        return []
    with (folder / "split.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    cells = json.loads((folder / "profile.json").read_text())["cells"]
    for row in rows:
        own = ("subject", "case", "instrument")
        cell = next(one for one in cells if all(one[key] == row[key] for key in own))
        split = cell["outcome"].get("split", {})
        for name, samples in split.get("functions", {}).items():
            row[name] = samples / split["samples"]
    return rows


def text_of(file):
    if file.suffix == ".zst":
        plain = subprocess.run(["zstd", "-dcq", file], check=True, capture_output=True)
        return plain.stdout.decode()
    return file.read_text()
