"""Short arithmetic stories, generated: an endless stream to learn from by seed, and a held-out set with other numbers."""

import hashlib
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from bench.tasks.problem import Problem

HE, SHE = ("Tom", "Leo", "Sam", "Max"), ("Ana", "Mia", "Eva", "Zoe")
THINGS = ("apples", "pens", "books", "coins", "cards", "eggs", "shells", "stamps")
GAINS = ("buys {} more", "finds {} more", "gets {} more")
LOSSES = ("gives away {}", "loses {}", "sells {}")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LEAST, MOST = 2, 49  # of every number in a story; what a step leaves is 1 to 99
HELD_OUT_SHARE = 10  # one sum of so many is kept for testing
STEPS = (1, 1, 2)  # steps of a problem: each as likely as it is often here
TEST_SEED = 0


@dataclass(frozen=True)
class Story:
    """A question about a first number and what is added to it (positive) or taken from it (negative), step by step."""

    question: str
    start: int
    changes: tuple[int, ...]

    @property
    def answer(self) -> int:
        """The right answer."""
        return self.start + sum(self.changes)

    @property
    def held_out(self) -> bool:
        """Whether its sum is kept for testing: decided by its numbers alone, so no wording of a held-out sum is ever learnt from."""
        digest = hashlib.sha256(repr((self.start, self.changes)).encode()).digest()
        return int.from_bytes(digest[:4]) % HELD_OUT_SHARE == 0

    def problem(self) -> Problem:
        """The story as a problem."""
        return Problem(self.question, str(self.answer))


def train_problems(seed: int) -> Iterator[Problem]:
    """Problems without end, the same ones for a seed; none has the numbers of a test problem."""
    return (story.problem() for story in stories(random.Random(seed), STEPS) if not story.held_out)


def test_problems(count: int) -> list[Problem]:
    """The first `count` of the held-out problems, no two with the same numbers; the same ones every time."""
    found: dict[tuple[int, ...], Problem] = {}
    for story in stories(random.Random(TEST_SEED), STEPS):
        if len(found) >= count:
            break
        if story.held_out:
            found.setdefault((story.start, *story.changes), story.problem())
    return list(found.values())


def stories(source: random.Random, steps: tuple[int, ...]) -> Iterator[Story]:
    """Stories without end, held-out ones among them; each has one of the given numbers of steps (1 to 7)."""
    for _ in itertools.count():
        yield _story(source, source.choice(steps))


def _story(source: random.Random, steps: int) -> Story:
    start = source.randint(LEAST, MOST)
    changes: list[int] = []
    for _ in range(steps):
        now = start + sum(changes)
        changes.append(source.choice([n for n in range(-MOST, MOST + 1) if abs(n) >= LEAST and 1 <= now + n <= 99]))
    name, things = source.choice(HE + SHE), source.choice(THINGS)
    other = source.choice([person for person in HE + SHE if person != name])
    wording = source.choice(("events", "events", "compared", "together"))
    if steps == 1 and wording == "compared":
        change = changes[0]
        text = f"{name} has {start} {things}. {other} has {abs(change)} {'more' if change > 0 else 'fewer'} than {name}."
        return Story(f"{text} How many {things} does {other} have?", start, tuple(changes))
    if steps == 1 and wording == "together" and changes[0] > 0:
        text = f"{name} has {start} {things} and {other} has {changes[0]}. How many {things} do they have together?"
        return Story(text, start, tuple(changes))
    events = [source.choice(GAINS if change > 0 else LOSSES).format(abs(change)) for change in changes]
    if steps <= 2:
        told = f"{name} has {start} {things}{', ' if steps == 2 else ' and '}{' and '.join(events)}."
    else:
        who = "he" if name in HE else "she"
        told = f"{name} has {start} {things}. " + " ".join(f"On {day} {who} {event}." for day, event in zip(DAYS, events, strict=False))
    return Story(f"{told} How many {things} does {name} have now?", start, tuple(changes))
