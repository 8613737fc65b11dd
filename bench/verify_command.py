"""`bench verify`: its flags, its report and its file."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bench import environment, results
from bench.checks import Check, Outcome
from bench.errors import NotEquivalentError
from bench.files import check_writable, write_new_json
from bench.flags import FiniteFloat, server_options
from bench.gspo import Clip
from bench.probe import Probe
from bench.progress import Reporter
from bench.session import ModelRequest, Session, open_session
from bench.verify import Verifier
from bench.verify_table import KIND, line
from bench.wait import ResultWaiter, until_healthy

SCHEMA = 1


@click.command("verify", short_help="Check that the server tells the truth.")
@server_options
@click.option("--learning-rate", type=FiniteFloat(min=0, min_open=True), default=3e-3, show_default=True, help="Of the steps compared.")
def verify_command(
    base_url: str,
    model: str | None,
    lora_rank: int,
    seed: int,
    deadline_s: float,
    ready_deadline_s: float,
    wait_for_tenant: bool,
    results: Path,
    learning_rate: float,
) -> None:
    """Checks outputs' order, the mask, that fused and two-pass steps are the same step, and that gradients accumulate.

    Ends with exit code 5 when a check fails.
    """
    probe = Probe(base_url.rstrip("/"))
    check_writable(results)
    reporter = Reporter()
    until_healthy(probe, ready_deadline_s, reporter.say)
    wait = ResultWaiter(probe, deadline_s, reporter.say)
    starting = ResultWaiter(probe, ready_deadline_s, reporter.say)
    console = Console(highlight=False, soft_wrap=True)
    found: list[Check] = []
    model_name = ""

    @contextlib.contextmanager
    def open_model(state: str | None) -> Iterator[Session]:
        nonlocal model_name
        request = ModelRequest(model or None, lora_rank, seed, wait_for_tenant, state)
        with open_session(probe, starting, request, reporter.say) as session:
            model_name = session.model
            yield session

    devices = environment.device_count(probe.environment()) or 1
    for check in Verifier(open_model, wait, Clip(), learning_rate, seed, reporter.say, devices).checks():
        found.append(check)
        console.print(line(check.outcome.value, check.name, check.text), markup=False)
    document = _document(model_name, probe.environment(), found, learning_rate)
    path = _save(document, results)
    reporter.say(f"wrote {path}")
    failed = [check.name for check in found if check.outcome is Outcome.FAIL]
    if failed:
        raise NotEquivalentError(
            f"the server fails {', '.join(failed)}: what it trains is not what was asked.\n"
            "Do not trust timings or a learning run on it; try another server setting or version."
        )


def _document(model: str, server: dict[str, Any] | None, found: list[Check], learning_rate: float) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "model": model,
        "checks": [{"name": c.name, "outcome": c.outcome.value, "text": c.text, "numbers": c.numbers} for c in found],
        "settings": {"learning_rate": learning_rate, "clip_low_threshold": Clip().low, "clip_high_threshold": Clip().high},
        "environment": {"client": environment.client_environment(), "server": server},
    }


def _save(document: dict[str, Any], folder: Path) -> Path:
    created = datetime.fromisoformat(document["created_at"])
    name = results.run_name(created, f"verify-{results.short_name(document['model'])}", document["environment"]["server"])
    return write_new_json(folder / "runs" / name, document)
