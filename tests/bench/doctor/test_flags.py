"""Flags of BENCH_ARGS and the like, against the commands' own source and against click and argparse themselves."""

import argparse
import ast
from pathlib import Path

import click
import pytest

from bench.doctor.flags import COMMANDS, flags_of, judge_flags
from bench.doctor.settings import FLAGS
from bench.learn_command import learn_command
from bench.run_command import run_command
from bench.scale.main import parser as scale_parser
from bench.sweep.main import parser as sweep_parser

ROOT = Path(__file__).parents[3]


def read(path: str) -> str:
    return (ROOT / path).read_text()


def declared(name: str) -> dict[str, str]:
    return {flag: value for path, function in COMMANDS[name].sources for flag, value in flags_of(read(path), function).items()}


def of_click(command: click.Command) -> dict[str, str]:
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]

    def takes(option: click.Option) -> str:
        return "none" if option.is_flag else "maybe" if option.flag_value is not None and option.name == "resume" else "one"

    return {flag: takes(option) for option in options for flag in (*option.opts, *option.secondary_opts)}


def of_argparse(parser: argparse.ArgumentParser) -> dict[str, str]:
    actions = [action for action in parser._actions if action.dest != "help"]
    return {flag: "none" if action.nargs == 0 else "one" for action in actions for flag in action.option_strings}


def test_the_flags_that_the_source_declares_are_those_that_the_commands_have() -> None:
    assert declared("BENCH_ARGS") == of_click(run_command)
    assert declared("LEARN_ARGS") == of_click(learn_command)
    assert declared("SWEEP_ARGS") == of_argparse(sweep_parser())
    assert declared("SCALE_ARGS") == of_argparse(scale_parser())
    assert set(COMMANDS) == set(FLAGS)


def test_the_sources_can_be_read_by_the_oldest_python_of_a_host() -> None:
    for command in COMMANDS.values():
        for path, _ in command.sources:
            ast.parse(read(path), feature_version=(3, 10))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("BENCH_ARGS", ""),
        ("BENCH_ARGS", "--control --target-ci-pct 4"),
        ("BENCH_ARGS", "--batch=/results/batches/1.json --strict"),
        ("BENCH_ARGS", "--clip-low -1 --help"),
        ("LEARN_ARGS", "--resume"),
        ("LEARN_ARGS", "--resume runs/x --steps 40"),
        ("LEARN_ARGS", "--resume --steps 40"),
        ("SWEEP_ARGS", "--memory-limit-gib 20 --run-args '--lora-rank 8'"),
        ("SWEEP_ARGS", "--mem 20"),
        ("SCALE_ARGS", "--gpus 1,2 --time-budget-s 3600"),
    ],
)
def test_flags_that_can_be_are_no_finding(name: str, text: str) -> None:
    assert judge_flags(name, text, read) is None


@pytest.mark.parametrize(
    ("name", "text", "status", "seen", "action"),
    [
        ("BENCH_ARGS", "--steps 8 --contrl", "fail", "run has no flag '--contrl'", "BENCH_ARGS='--steps 8 --control' make bench "),
        ("BENCH_ARGS", "--step 9 --steps 8", "fail", "run has no flag '--step'", "BENCH_ARGS='--steps 9 --steps 8' make bench "),
        ("BENCH_ARGS", "--targt-ci-pct=4", "fail", "run has no flag '--targt-ci-pct'", "BENCH_ARGS=--target-ci-pct=4 make bench "),
        ("BENCH_ARGS", "control", "fail", "'control' is no flag", "BENCH_ARGS=--control make bench "),
        ("BENCH_ARGS", "--control 'x", "fail", 'no closing quotation: "--control \'x"', "BENCH_ARGS='...' make bench"),
        (
            "BENCH_ARGS",
            "-q",
            "fail",
            "run has no flag '-q'",
            "BENCH_ARGS='...' make bench     # all flags: docker compose run --rm --no-deps bench bench run --help",
        ),
        ("LEARN_ARGS", "--group 8", "warn", "learn has no flag '--group'", "LEARN_ARGS='--groups 8' make learn "),
        (
            "SWEEP_ARGS",
            "--memory-limit 20 --agn",
            "warn",
            "sweep has no flag '--agn'",
            "SWEEP_ARGS='--memory-limit 20 --again' make sweep ",
        ),
        ("SCALE_ARGS", "--memory-limit-gib 20", "warn", "scale has no flag '--memory-limit-gib'", "SCALE_ARGS='"),
        ("SCALE_ARGS", "--s 1", "warn", "scale has no flag '--s'", "SCALE_ARGS='"),  # the start of several
    ],
)
def test_a_flag_that_a_command_does_not_have_is_shown_with_the_nearest_it_has(
    name: str, text: str, status: str, seen: str, action: str
) -> None:
    finding = judge_flags(name, text, read)
    assert finding is not None
    assert (finding.name, finding.status, finding.seen) == (name, status, seen)
    assert finding.action.startswith(action)


def test_without_the_source_nothing_is_judged() -> None:
    assert judge_flags("BENCH_ARGS", "--contrl", lambda path: "") is None
    assert judge_flags("BENCH_ARGS", "--contrl", lambda path: "def f(:") is None
