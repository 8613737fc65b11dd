"""The screen that doctor prints, and the same as JSON."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict

from bench.doctor.finding import Finding

COLOURS = {"ok": "32", "warn": "33", "fail": "31"}
NAME_WIDTH = 19
ONLY_CUDA = {"NVIDIA driver", "Driver for CUDA", "GPU in containers", "GPU memory", "Model"}  # not needed for the CPU stack


def screen(findings: Sequence[Finding], title: str, stack: str, width: int, colour: bool) -> str:
    """One line a finding and, below it, what to type; commands are never wrapped, so that they can be copied."""
    lines = [title, ""]
    for finding in findings:
        lines += _lines(finding, width, colour)
    return "\n".join([*lines, "", conclusion(findings, stack)])


def _lines(finding: Finding, width: int, colour: bool) -> list[str]:
    indent = " " * (NAME_WIDTH + 6)
    seen = textwrap.wrap(finding.seen, max(width - len(indent), 30), break_long_words=False, break_on_hyphens=False) or [""]
    mark = f"{finding.status:<4}"
    painted = f"\033[{COLOURS[finding.status]}m{mark}\033[0m" if colour else mark
    first = f"{painted}  {finding.name:<{NAME_WIDTH}}{seen[0]}"
    return [first, *(indent + line for line in seen[1:]), *(f"      > {step}" for step in finding.action.splitlines())]


def conclusion(findings: Sequence[Finding], stack: str) -> str:
    """The last lines: what to do next."""
    fails = [finding.name for finding in findings if finding.status == "fail"]
    if fails:
        things = "One thing stands" if len(fails) == 1 else f"{len(fails)} things stand"
        mend = f"{things} in the way of `make bench`. Type what follows each > above, from the top, then: make doctor"
        return f"{mend}\nOr do without the GPU: STACK=cpu make bench" if stack == "cuda" and set(fails) <= ONLY_CUDA else mend
    if any(finding.status == "warn" for finding in findings):
        return "`make bench` should work; the lines marked warn say what may yet go wrong."
    return "All is well: make bench"


def as_json(findings: Sequence[Finding], stack: str) -> str:
    """One object: the stack, whether `make bench` can be expected to work, and the findings in order."""
    ready = all(finding.status != "fail" for finding in findings)
    return json.dumps({"stack": stack, "ready": ready, "findings": [asdict(finding) for finding in findings]}, indent=2)
