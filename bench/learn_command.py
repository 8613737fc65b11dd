"""`bench learn`: its flags, and what is printed at the end."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from bench.errors import InputError
from bench.flags import FiniteFloat, server_options
from bench.json_object import JsonObject
from bench.learn import run
from bench.learn.run import Where
from bench.learn.settings import CLIPS, PATHS, LearnSettings
from bench.numbers import percent, plural
from bench.progress import Reporter
from bench.tasks.task import DEFAULTS, GSM8K, NAMES

# What a resumed run may be told anew.
MAY_CHANGE = ("steps",)


@click.command("learn", short_help="Learn a task with GSPO: a curve that rises.")
@server_options
@click.option("--tokenizer", help="Its tokenizer: a hub name or a folder.  [default: the model's]")
@click.option("--task", type=click.Choice(NAMES), default=GSM8K, show_default=True)
@click.option("--data", help="Folder with GSM8K's train.jsonl and test.jsonl.  [default: openai/gsm8k from the hub]")
@click.option("--path", type=click.Choice(list(PATHS)), default="fused", show_default=True, help="How each update is taken.")
@click.option("--steps", type=click.IntRange(1, 100_000), help="Batches of rollouts to learn from.  [default: the task's]")
@click.option("--groups", type=click.IntRange(1, 4_096), default=8, show_default=True, help="Problems a step.")
@click.option("--group-size", type=click.IntRange(2, 1_024), default=8, show_default=True, help="Rollouts a problem.")
@click.option(
    "--updates-per-batch",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Optimizer steps a batch, each on its part of the groups; with more than one, ratios leave 1.",
)
@click.option("--max-tokens", type=click.IntRange(1, 131_072), help="Longest response.  [default: the task's]")
@click.option("--learning-rate", type=FiniteFloat(min=0), help="[default: the task's]")
@click.option(
    "--clip",
    type=click.Choice(list(CLIPS)),
    default="paper",
    show_default=True,
    help="paper: ratios from 0.9997 to 1.0004; published: 0.8 to 1.2.",
)
@click.option("--divide-by-stdev", is_flag=True, help="Divide a group's centred rewards by their standard deviation.")
@click.option("--test-every", type=click.IntRange(0, 100_000), default=10, show_default=True, help="Steps; 0 for never.")
@click.option("--test-problems", type=click.IntRange(1, 100_000), help="Held-out problems a test.  [default: the task's]")
@click.option("--checkpoint-every", type=click.IntRange(0, 100_000), default=5, show_default=True, help="Steps; 0: at the end only.")
@click.option("--tensorboard", type=click.Path(path_type=Path), help="Folder for TensorBoard too (needs tensorboardX).")
@click.option(
    "--resume",
    is_flag=False,
    flag_value="last",
    help="Go on with the last run, or with the one in the folder named, from its checkpoint.",
)
@click.pass_context
def learn_command(context: click.Context, /, **flags: Any) -> None:
    """Samples groups of answers, rewards the right ones, and takes GSPO updates: held-out accuracy is what should rise.

    Ctrl-C ends it after the step in hand, with a checkpoint; --resume goes on from the last one.
    """
    given = {name for name in flags if context.get_parameter_source(name) is not ParameterSource.DEFAULT}
    where = _where(flags)
    resumed = run.open_resumed(where.results, flags["resume"]) if flags["resume"] else None
    settings = _asked(flags) if resumed is None else _resumed(run.settings_of(resumed), flags, given)
    with Reporter() as reporter:
        document = run.learn(settings, where, resumed, reporter)
    click.echo(_summary(document))


def _where(flags: dict[str, Any]) -> Where:
    return Where(
        base_url=str(flags["base_url"]).rstrip("/"),
        model=flags["model"] or None,
        results=flags["results"],
        deadline_s=flags["deadline_s"],
        ready_deadline_s=flags["ready_deadline_s"],
        wait_for_tenant=flags["wait_for_tenant"],
        tensorboard=flags["tensorboard"],
    )


def _asked(flags: dict[str, Any]) -> LearnSettings:
    own = DEFAULTS[flags["task"]]
    values = {field.name: flags[field.name] for field in fields(LearnSettings)}
    for name in ("steps", "max_tokens", "learning_rate", "test_problems"):
        values[name] = getattr(own, name) if values[name] is None else values[name]
    return LearnSettings(**values | {"data": values["data"] or None, "tokenizer": values["tokenizer"] or None})


def _resumed(recorded: LearnSettings, flags: dict[str, Any], given: set[str]) -> LearnSettings:
    """The run's own settings, with those that may change as they are given now."""
    values = {field.name: getattr(recorded, field.name) for field in fields(LearnSettings)}
    for name in given & values.keys():
        if name not in MAY_CHANGE and flags[name] != values[name]:
            raise InputError(
                f"the run was started with --{name.replace('_', '-')} {values[name]} and cannot go on with {flags[name]}.\n"
                "Leave the flag out, or start a new run without --resume."
            )
        values[name] = flags[name]
    return LearnSettings(**values)


def _summary(document: dict[str, Any]) -> str:
    root = JsonObject("run.json", "", document)
    final, task = root.object("final"), root.text("task")
    accuracy, count = final.number("test/env/all/correct", 0.0, 1.0), final.whole("test/env/all/count")
    if accuracy is None or count is None:
        return f"{plural(root.whole('steps') or 0, 'step')} of {task} learnt."
    problems = plural(count, "held-out problem")
    return f"After {plural(final.whole('step') or 0, 'step')}, {percent(100 * accuracy)} of {problems} of {task} are right."
