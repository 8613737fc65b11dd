"""`bench show`: any result file's table, verdict and warnings, and the settings that it came from."""

from pathlib import Path

import click

from bench import result_file
from bench.compare.differences import short, text_of
from bench.files import read_json
from bench.json_object import JsonObject, one_line
from bench.learn_table import is_learn, print_learn, run_of_pointer
from bench.preset_name import preset_name
from bench.repeats_table import is_repeat, print_repeat
from bench.result_file import ResultFile
from bench.results import LAST
from bench.scale_table import is_scale, print_scale
from bench.sweep_table import is_sweep, print_sweep
from bench.table import print_result_file, stdout_console
from bench.verify_table import is_verify, print_verify

VERSIONS = ("skyrl", "torch", "jax", "vllm", "tinker", "flash_attn")
SETTINGS = (
    "order",
    "mode",
    "steps",
    "warmup",
    "lora_rank",
    "learning_rate",
    "clip_low_threshold",
    "clip_high_threshold",
    "seed",
    "prompts",
)


@click.command("show", short_help="Print any result file's table, verdict, warnings and settings.")
@click.argument("file", type=click.Path(path_type=Path), default=Path("results") / LAST)
@click.option("--no-reasons", is_flag=True, help="Leave out why rows of a sweep or scaling run failed.")
def show_command(file: Path, no_reasons: bool) -> None:
    """Prints FILE as a run prints its own, and what it ran on; of a learning run, its folder.  [default: results/last_gspo_bench.json]"""
    console = stdout_console()
    if (record := file / "run.json").is_file():
        file = record
    document = read_json(file, result_file.MAX_RESULT_BYTES, "result file")
    if (pointed := run_of_pointer(document, file)) is not None:
        file = pointed
        document = read_json(file, result_file.MAX_RESULT_BYTES, "learning run that last_learn.json names,")
    if is_learn(document):
        print_learn(document, file, console)
        return
    for has_rows, print_rows in ((is_sweep, print_sweep), (is_scale, print_scale)):
        if has_rows(document):
            print_rows(document, one_line(str(file)), console, reasons=not no_reasons)
            return
    for is_of_kind, print_kind in ((is_repeat, print_repeat), (is_verify, print_verify)):
        if is_of_kind(document):
            print_kind(document, one_line(str(file)), console)
            return
    result = result_file.of_document(document, one_line(str(file)))
    print_result_file(result, console)
    for label, text in setup(result):
        console.print(f"{label:<8} {text}", markup=False, soft_wrap=True)


def setup(result: ResultFile) -> list[tuple[str, str]]:
    """What the numbers came from, a label and a text each; labels of which the file tells nothing are left out."""
    server, client = result.server, result.client
    gpus = [f"{gpu.text('name') or 'unnamed GPU'} (driver {gpu.text('driver') or 'unknown'})" for gpu in server.objects("gpus")]
    hardware = gpus or ([f"no GPU, {server.text('cpu') or 'unknown CPU'}"] if server.values else [])
    weights = server.text("weights")
    rows = {
        "when": [result.created_at] if result.created_at else [],
        "server": [
            *hardware,
            *_told(server, ("backend",)),
            *([f"preset {preset}"] if (preset := preset_name(server)) else []),
            *_told(server, ("runtime_role",)),
            *([f"{weights} weights"] if weights else []),
        ],
        "spread": _told(server.object("placement"), ("nodes", "devices_per_node", "data_parallel")),
        "backend": _told(server.object("backend_config"), tuple(server.object("backend_config").values)),
        "versions": _told(server.object("versions"), VERSIONS),
        "settings": _told(result.settings, SETTINGS),
        "batch": _told(result.batch, ("sha256", "sequences", "target_tokens", "sampled_from", "source")),
        "client": _told(client, ("gspo_bench", "python", "cpu")),
        "images": [
            f"{side} {short(image)}" for side, section in (("server", server), ("client", client)) if (image := section.text("image"))
        ],
    }
    return [(label, "; ".join(parts)) for label, parts in rows.items() if parts]


def _told(section: JsonObject, keys: tuple[str, ...]) -> list[str]:
    found = ((key, section.values.get(key)) for key in keys)
    return [f"{short(text_of(key, ''))} {short(text_of(value, key))}" for key, value in found if value is not None]
