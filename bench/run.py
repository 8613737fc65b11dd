"""One benchmark run, from a base URL to a result file."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import tinker

from bench import batch as batches
from bench import environment, floor, measure, outputs_order, path_names, paths, results, rollout, run_facts, shipped, stats, synthetic
from bench.batch import FrozenBatch
from bench.batch_fit import check_fits
from bench.checks import Check, Outcome
from bench.clock import Clock
from bench.errors import NotEquivalentError, UnstableError
from bench.files import check_writable
from bench.keeper import Keeper
from bench.measure import Plan, StepRecord
from bench.numbers import plural, share
from bench.observer import Observer
from bench.paths import StepSetup
from bench.probe import Probe
from bench.progress import Reporter
from bench.prompts import questions
from bench.results import RunFacts
from bench.session import ModelRequest, Session, open_session
from bench.settings import RunSettings
from bench.tenants import Company
from bench.wait import ResultWaiter, until_healthy
from bench.wire import WireCounter

EPS, BETA1, BETA2 = 1e-8, 0.9, 0.95


def run(settings: RunSettings, reporter: Reporter) -> dict[str, Any]:
    """Measures and returns the result document, which is on disk then.

    Raises:
        BenchError: with the exit code that says what ended the run; what was measured is in a file marked partial.
    """
    probe = Probe(settings.base_url)
    arms: list[tuple[str, paths.Path]] = [(path.name, path) for path in paths.paths_by_name(list(settings.path_names))]
    if settings.control:
        arms.append((path_names.CONTROL, paths.Native()))
    check_writable(settings.results)
    frozen = batches.load(settings.batch) if settings.batch else None
    if settings.rollouts == shipped.SHIPPED:
        frozen = shipped.rollouts()
    stats.load()
    until_healthy(probe, settings.ready_deadline_s, reporter.say)
    wire = WireCounter()
    wait = ResultWaiter(probe, settings.deadline_s, reporter.say, wire=wire)
    starting = replace(wait, deadline_s=settings.ready_deadline_s)
    request = ModelRequest(settings.model, settings.lora_rank, settings.seed, settings.wait_for_tenant)
    with wire.installed(), open_session(probe, starting, request, reporter.say) as session:
        reporter.say("the model is ready")
        told = probe.environment()
        if frozen is not None:
            check_fits(frozen, told)
        memory = [environment.gpu_memory(told, "ready")]
        order = _order(session, settings, starting)
        floor_s = floor.take(settings, arms, frozen, partial(_setup, session, settings), starting, wait, wire)
        if settings.rollouts == shipped.SHIPPED and frozen is not None:
            frozen = shipped.with_old_logprobs(frozen, session.client, starting)
        if frozen is None:
            frozen = _sample(session, settings, starting, reporter)
            memory.append(environment.gpu_memory(probe.environment(), "sampled"))
        observer = Observer(probe, str(session.client.model_id), wire, Clock())
        facts = run_facts.facts_of(session, settings, frozen, arms, floor_s, memory, observer, order)
        size = f"{plural(len(frozen.sequences), 'sequence')}, {plural(frozen.target_tokens, 'target token')} a step"
        reporter.say(f"batch {frozen.sha256[:12]}: {size}")
        return _measure(session, settings, facts, arms, wait, reporter, observer)


def _setup(session: Session, settings: RunSettings, frozen: FrozenBatch, wait: ResultWaiter) -> StepSetup:
    adam = tinker.AdamParams(learning_rate=settings.learning_rate, beta1=BETA1, beta2=BETA2, eps=EPS)
    return StepSetup(session.client, frozen, settings.clip, adam, settings.blocking, wait, Clock())


def _order(session: Session, settings: RunSettings, starting: ResultWaiter) -> Check | None:
    """Whether outputs come in input order, where the server is one that could mix them up."""
    if not outputs_order.is_worth_asking(session.probe.environment()):
        return None
    starting.say("checking that outputs come in input order, before anything is timed")
    check = outputs_order.order_of(session.client, starting, synthetic.sequences(settings.seed))
    starting.say(f"order: {check.outcome.value}: {check.text}")
    return check


def _sample(session: Session, settings: RunSettings, wait: ResultWaiter, reporter: Reporter) -> FrozenBatch:
    asked = questions(settings.prompts, settings.prompts_count, settings.seed)
    tokenizer = rollout.load_tokenizer(settings.tokenizer or session.model)
    prompts = [rollout.prompt_tokens(tokenizer, question) for question in asked]
    sampling = rollout.SampleSettings(settings.max_tokens, rollout.stop_tokens(tokenizer), settings.seed)
    return rollout.sample_batch(session.client, prompts, sampling, session.model, settings.prompts, wait, reporter.say)


def _measure(
    session: Session,
    settings: RunSettings,
    facts: RunFacts,
    arms: Sequence[tuple[str, paths.Path]],
    wait: ResultWaiter,
    reporter: Reporter,
    observer: Observer,
) -> dict[str, Any]:
    keeper = Keeper(session.probe, settings.results, facts, reporter.say)
    company = Company(session.probe, session.gone)
    records: list[StepRecord] = []

    def after_round(taken: list[StepRecord]) -> None:
        company.look()
        keeper.facts = replace(keeper.facts, company=company.words())
        keeper.after_round(taken)

    def on_step(record: StepRecord) -> None:
        records.append(record)
        reporter.step(record)

    plan = Plan(
        arms=arms,
        rounds=settings.steps,
        max_rounds=settings.max_steps if settings.target_ci_pct is not None else settings.steps,
        warmup=settings.warmup,
        order=settings.order,
        seed=settings.seed,
        enough=lambda taken: _narrow_enough(taken, settings),
    )
    reporter.start_steps((settings.steps + settings.warmup) * len(arms))
    try:
        measure.measure(_setup(session, settings, facts.batch, wait), plan, on_step, after_round, Clock(), observer)
    except BaseException as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error).split("\n", 1)[0] or type(error).__name__
        keeper.partial(records, f"ended early: {why}")
        raise
    document, own = keeper.whole(records)
    reporter.say(_own_cost(document))
    reporter.say(f"wrote {settings.results / results.LAST} (and {own.relative_to(settings.results)})")
    return document


def _own_cost(document: dict[str, Any]) -> str:
    """What the benchmark itself took, in one line."""
    timed_s = sum(step["pause_s"] + step["step_s"] for step in document["steps"])
    peak_mb = document["environment"]["client"]["peak_memory_bytes"] / 1e6
    names = [name for name in document["settings"]["paths"] if name in document]
    shares = ", ".join(
        f"{share(document[name]['client_overhead_s'] / document[name]['mean_s'])} of the {path_names.label(name)} step" for name in names
    )
    return f"steps took {timed_s:.1f} s, this process at most {peak_mb:.0f} MB; its own work, with the hand-over to the SDK, is {shares}"


def _narrow_enough(records: list[StepRecord], settings: RunSettings) -> bool:
    if settings.target_ci_pct is None:
        return True
    found = stats.saving(records, path_names.TWO_PASS, path_names.NATIVE, settings.seed)
    if found is None or found.ci_low_pct is None or found.ci_high_pct is None:
        return False
    return found.ci_high_pct - found.ci_low_pct <= settings.target_ci_pct


def check_valid(document: dict[str, Any]) -> None:
    """Raises NotEquivalentError where the server returns outputs out of order, UnstableError where other clients used it meanwhile."""
    if document.get("valid") is not False:
        return
    words = f"the result is not valid: {document['invalid']}.\nWhat was measured is kept; "
    if (document["order_check"] or {}).get("outcome") == Outcome.FAIL.value:
        raise NotEquivalentError(f"{words}do not trust timings or a learning run on this server, try another setting or version.")
    raise UnstableError(f"{words}run again when nobody else uses the server.")


def check_strict(document: dict[str, Any]) -> None:
    """With `--strict`: raises UnstableError when a warning speaks against the number."""
    unstable = [warning["code"] for warning in document["warnings"] if warning["unstable"]]
    if unstable:
        raise UnstableError(f"the run is not stable enough for --strict: {', '.join(unstable)}.\nThe result file has the details.")
