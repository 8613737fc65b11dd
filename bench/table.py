"""The terminal's table of a result document, and its warnings."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench import path_names

ORDERED = (path_names.NATIVE, path_names.CONTROL, path_names.TWO_PASS, path_names.SDK_CUSTOM)


def print_result(document: dict[str, Any], console: Console) -> None:
    """Prints the table, the verdict and the warnings."""
    table = Table(title=Text(_title(document)), title_justify="left")
    for heading in ("path", "steps", "median s", "mean s", "stdev s", "tokens/s (mean)", "client s"):
        table.add_column(heading, justify="left" if heading == "path" else "right")
    for name in ORDERED:
        if entry := document.get(name):
            spread = "" if entry["stdev_s"] is None else f"{entry['stdev_s']:.3f}"
            table.add_row(
                name,
                str(entry["n"]),
                f"{entry['median_s']:.3f}",
                f"{entry['mean_s']:.3f}",
                spread,
                f"{entry['tokens_per_s']:.1f}",
                f"{entry['client_overhead_s']:.3f}",
            )
    console.print(table)
    console.print(document["summary"]["verdict"], markup=False, soft_wrap=True)
    for control in (entry for entry in document["comparisons"] if entry["candidate"] == path_names.CONTROL):
        console.print(_control_line(control), markup=False, soft_wrap=True)
    for warning in document["warnings"]:
        console.print(f"warning {warning['code']}: {warning['text']}. {warning['action']}", markup=False, soft_wrap=True)


def _title(document: dict[str, Any]) -> str:
    summary = document["summary"]
    partial = "" if document["status"] == "complete" else "PARTIAL "
    return f"{partial}{summary['model']}: {summary['batch_seqs']} sequences, {summary['total_tokens_per_step']:,} target tokens a step"


def _control_line(control: dict[str, Any]) -> str:
    median = f"{control['saving_median_pct']:+.1f} %"
    if control["ci_low_pct"] is None:
        return f"Control, the fused path against itself: {median} (too few pairs for an interval)."
    return f"Control, the fused path against itself: {median}, 95 % interval {control['ci_low_pct']:.1f} to {control['ci_high_pct']:.1f} %."
