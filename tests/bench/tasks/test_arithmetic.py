"""Generated stories: the same for a seed, the answer that their words come to, and a test set with numbers of its own."""

import itertools
import random
import re

import pytest

from bench.tasks import arithmetic
from bench.tasks.arithmetic import Story, stories, train_problems
from bench.tasks.problem import Problem

MANY = 3000


def numbers(problem: Problem) -> tuple[str, ...]:
    return tuple(re.findall(r"\d+", problem.question))


def sum_in_words(problem: Problem) -> tuple[int, ...]:
    """A second way to the sum: the first number and what is added to it or taken from it, from the words alone."""
    start, *others = map(int, numbers(problem))
    signs = re.findall(r"(gives away|loses|sells|fewer)|(?:buys|finds|gets|more than|and \w+ has)", problem.question)
    return start, *(-number if taken else number for number, taken in zip(others, signs, strict=True))


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_gives_the_same_stream_again_and_another_seed_another(seed: int) -> None:
    first, again, other = (list(itertools.islice(train_problems(chosen), 50)) for chosen in (seed, seed, seed + 1))
    assert first == again
    assert first != other


def test_every_answer_is_what_the_words_come_to() -> None:
    problems = [*itertools.islice(train_problems(3), MANY), *arithmetic.test_problems(500)]
    assert [sum(sum_in_words(problem)) for problem in problems] == [int(problem.answer) for problem in problems]


def test_every_number_is_small_and_every_answer_from_1_to_99() -> None:
    problems = list(itertools.islice(train_problems(4), MANY))
    assert {len(numbers(problem)) for problem in problems} == {2, 3}
    assert all(2 <= int(number) <= 49 for problem in problems for number in numbers(problem))
    assert all(1 <= int(problem.answer) <= 99 for problem in problems)


def test_no_test_problem_has_the_sum_of_a_train_problem() -> None:
    held_out = {sum_in_words(problem) for problem in arithmetic.test_problems(500)}
    learnt = {sum_in_words(problem) for seed in range(5) for problem in itertools.islice(train_problems(seed), MANY)}
    assert len(held_out) == 500
    assert not held_out & learnt


def test_the_test_set_is_the_same_every_time_and_grows_at_its_end() -> None:
    assert arithmetic.test_problems(40) == arithmetic.test_problems(80)[:40]


def test_about_a_tenth_of_the_sums_is_held_out_whatever_their_wording() -> None:
    found = list(itertools.islice(stories(random.Random(0), (1, 2)), MANY))
    assert 0.07 <= sum(story.held_out for story in found) / MANY <= 0.13
    assert len({Story(text, 12, (5, -3)).held_out for text in ("Tom has ...", "Ana has ...")}) == 1


def test_all_wordings_occur() -> None:
    text = " ".join(problem.question for problem in itertools.islice(train_problems(1), 500))
    for word in ("together", "fewer than", "more than", "gives away", "finds", *arithmetic.HE, *arithmetic.SHE, *arithmetic.THINGS):
        assert word in text


def test_a_story_of_several_days_tells_them_in_order() -> None:
    story = next(stories(random.Random(2), (4,)))
    assert re.findall(r"On (\w+day)", story.question) == ["Monday", "Tuesday", "Wednesday", "Thursday"]
    assert sum_in_words(story.problem()) == (story.start, *story.changes)
