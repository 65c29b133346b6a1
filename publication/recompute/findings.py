"""What is found where a page and the raw rounds disagree, and what was counted on the way."""

from dataclasses import dataclass, field


@dataclass
class Findings:
    wrong: list = field(default_factory=list)
    figures: int = 0
    outcomes: int = 0
    taken: dict = field(default_factory=dict)  # what was taken as given, and how often

    def differs(self, place, page, ours):
        self.wrong.append(f"{place}: the page says {page}, the raw rounds give {ours}")

    def unknown(self, place, text):
        self.wrong.append(f"{place}: not understood: {text}")

    def take(self, what, count=1):
        self.taken[what] = self.taken.get(what, 0) + count

    def add(self, other):
        self.wrong += other.wrong
        self.figures += other.figures
        self.outcomes += other.outcomes

    def summary(self):
        kinds = sorted((what, count) for what, count in self.taken.items() if count)
        given = ", ".join(f"{count} {what}" for what, count in kinds)
        total = sum(self.taken.values())
        text = f"{self.figures} figures and {self.outcomes} outcomes recomputed"
        return text + (f"; {total} taken as given: {given}" if total else "")
