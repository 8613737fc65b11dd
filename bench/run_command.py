"""`bench run`: the flags, and what is printed at the end."""

import json
from pathlib import Path
from typing import Any

import click

from bench import image, path_names, prompts, run, shipped
from bench.errors import UnsavedError
from bench.flags import FiniteFloat, server_options
from bench.gspo import Clip
from bench.order import ORDERS
from bench.progress import Reporter
from bench.settings import RunSettings
from bench.table import print_result, stdout_console


@click.command("run", short_help="Time the paths and write the result file.")
@server_options
@click.option("--tokenizer", help="Its tokenizer: a hub name or a folder.  [default: the model's]")
@click.option("--steps", type=click.IntRange(1, 100_000), default=8, show_default=True, help="Timed steps of each path.")
@click.option(
    "--warmup",
    type=click.IntRange(0, 1_000),
    default=1,
    show_default=True,
    help="Steps of each path before, not counted.",
)
@click.option("--max-tokens", type=click.IntRange(1, 131_072), default=512, show_default=True, help="Longest response sampled.")
@click.option("--learning-rate", type=FiniteFloat(min=0), default=1e-6, show_default=True, help="0 keeps the weights as they are.")
@click.option("--clip-low", type=FiniteFloat(), default=0.8, show_default=True, help="Clip threshold, a ratio at most 1.")
@click.option("--clip-high", type=FiniteFloat(), default=1.2, show_default=True, help="Clip threshold, a ratio at least 1.")
@click.option(
    "--paths",
    "path_names",
    default=f"{path_names.NATIVE},{path_names.TWO_PASS}",
    show_default=True,
    help=f"Which paths, comma-separated; {path_names.SDK_CUSTOM} too (needs torch).",
)
@click.option("--control", is_flag=True, help="Also time the fused path against itself: its interval must hold 0.")
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="interleaved",
    show_default=True,
    help="blocked: one path, then the other.",
)
@click.option("--blocking", is_flag=True, help="Wait for each call before the next one is sent.")
@click.option(
    "--target-ci-pct",
    type=FiniteFloat(min=0, min_open=True),
    help="Go on until the saving's interval is this many points wide.",
)
@click.option(
    "--max-steps",
    type=click.IntRange(1, 100_000),
    default=64,
    show_default=True,
    help="Where --target-ci-pct gives up.",
)
@click.option(
    "--floor-steps",
    type=click.IntRange(0, 100),
    default=3,
    show_default=True,
    help="Near-empty steps that time polling and wire.",
)
@click.option(
    "--prompts",
    "prompts_source",
    default=prompts.BUILTIN,
    show_default=True,
    help="builtin, gsm8k, or a JSON-lines file.",
)
@click.option("--prompts-count", type=click.IntRange(1, 4_096), default=16, show_default=True, help="Sequences in the batch.")
@click.option(
    "--rollouts",
    type=click.Choice([shipped.SAMPLED, shipped.SHIPPED]),
    default=shipped.SAMPLED,
    show_default=True,
    help="shipped: a batch that comes with the program; nothing is sampled.",
)
@click.option("--batch", type=click.Path(path_type=Path), help="Run this saved batch again; nothing is sampled.")
@click.option(
    "--peak-tflops",
    type=FiniteFloat(min=0, min_open=True),
    help="The device's dense bf16 rate, for the arithmetic's least time.  [default: by the GPU's name]",
)
@click.option("--strict", is_flag=True, help="End with exit code 6 when a warning speaks against the number.")
def run_command(**flags: Any) -> None:
    """Samples a batch of rollouts once, freezes it, takes the same training step on it along each path, and compares the times."""
    settings = _settings(flags)
    with image.leaving_server(lambda text: click.echo(text, err=True)):
        _run(settings)


def _run(settings: RunSettings) -> None:
    try:
        with Reporter() as reporter:
            document = run.run(settings, reporter)
    except UnsavedError as error:
        _print(error.document)
        raise
    _print(document)
    run.check_valid(document)
    if settings.strict:
        run.check_strict(document)


def _print(document: dict[str, Any]) -> None:
    print_result(document, stdout_console())
    click.echo(f"BENCH_RESULT {json.dumps(document['summary'], allow_nan=False)}")


def _settings(flags: dict[str, Any]) -> RunSettings:
    clip = Clip(flags.pop("clip_low"), flags.pop("clip_high"))
    names = tuple(name.strip() for name in flags.pop("path_names").split(","))
    source = flags.pop("prompts_source")
    steps, longest = flags["steps"], flags.pop("max_steps")
    # Without a target, --steps alone says how many.
    longest = longest if flags["target_ci_pct"] is not None else max(longest, steps)
    base_url = str(flags.pop("base_url")).rstrip("/")
    model = flags.pop("model") or None
    tokenizer = flags.pop("tokenizer") or None
    return RunSettings(
        base_url=base_url,
        model=model,
        tokenizer=tokenizer,
        max_steps=longest,
        clip=clip,
        path_names=names,
        prompts=source,
        **flags,
    )
