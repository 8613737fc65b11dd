"""The whole of doctor: on machines that are made up, and as a process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.doctor.commands import Output, run
from bench.doctor.examine import examine
from bench.doctor.finding import Finding, fail, ok
from bench.doctor.main import main
from bench.doctor.report import screen
from bench.doctor.settings import FLAGS, Settings
from bench.doctor.world import World

ROOT = Path(__file__).parents[3]
INFO = json.dumps({"ServerVersion": "27.5.1", "DockerRootDir": "/var/lib/docker", "Runtimes": {"nvidia": {}, "runc": {}}})
ALL_IMAGES = "gspo-bench-server:cpu\ngspo-bench-server:cuda\ngspo-bench-client:latest\n"
GPU = "NVIDIA L4, 23034, 3, 580.95.05\n"


class FakeWorld(World):
    """A machine whose commands print what the test says, found by how the command starts; the rest is not installed."""

    def __init__(self, root: Path, printed: dict[str, Output], hub: int | None = 200) -> None:
        super().__init__(root)
        self.printed, self.hub, self.asked = printed, hub, []

    def run(self, command: list[str], limit_s: float = 15.0) -> Output:
        self.asked.append(" ".join(command))
        return next((output for start, output in self.printed.items() if self.asked[-1].startswith(start)), Output(None, problem="missing"))

    def which(self, program: str) -> str:
        return f"/usr/bin/{program}" if program == "docker" and any(start.startswith("docker") for start in self.printed) else ""

    def free_gib(self, folder: str) -> float | None:
        return 200.0

    def port_is_free(self, port: int) -> bool:
        return True

    def has_nvidia_device(self) -> bool:
        return any(start.startswith("nvidia-smi") for start in self.printed)

    def hub_status(self, settings: Settings, model: str) -> tuple[int | None, str]:
        return self.hub, "Connection refused"


def docker(images: str = ALL_IMAGES, trial: str = "GPU 0: NVIDIA L4 (UUID: GPU-1)") -> dict[str, Output]:
    return {
        "docker info": Output(0, INFO),
        "docker compose version": Output(0, "2.29.1\n"),
        "docker image ls": Output(0, images),
        "docker run": Output(0, trial),
        "docker": Output(0, ""),
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("docker", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "docker/server").mkdir()
    (tmp_path / "docker/server/presets").symlink_to(ROOT / "docker/server/presets")
    (tmp_path / "docker/requirements").mkdir()
    (tmp_path / "docker/requirements/server-cuda.txt").write_text("nvidia-cuda-runtime==13.0.96 \\\n")
    return tmp_path


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def test_a_ready_gpu_machine_is_ok_in_every_line(checkout: Path):
    stack, findings = examine(FakeWorld(checkout, docker() | {"nvidia-smi": Output(0, GPU)}), Settings())
    assert stack == "cuda"
    assert [finding.status for finding in findings] == ["ok"] * len(findings)
    assert {"GPU in containers", "Driver for CUDA", "GPU memory", "Model"} <= set(by_name(findings))


def test_a_machine_without_a_gpu_is_ready_for_the_cpu_stack(checkout: Path):
    world = FakeWorld(checkout, docker(), hub=None)
    stack, findings = examine(world, Settings())
    assert stack == "cpu"
    assert {finding.status for finding in findings} == {"ok"}
    assert not any("--gpus" in command for command in world.asked)


def test_a_gpu_that_containers_cannot_have_fails_only_where_cuda_was_asked_for(checkout: Path):
    broken = docker() | {"docker run": Output(125, "", 'could not select device driver "" with capabilities: [[gpu]]')}
    world = FakeWorld(checkout, broken | {"nvidia-smi": Output(0, GPU)})
    asked_for, findings = examine(world, Settings(stack="cuda"))
    assert (asked_for, by_name(findings)["GPU in containers"].status) == ("cuda", "fail")
    by_itself, findings = examine(world, Settings())
    assert (by_itself, by_name(findings)["GPU in containers"].status) == ("cpu", "warn")
    assert by_name(findings)["GPU in containers"].seen.endswith("; the CPU stack will be used")
    assert not any(finding.status == "fail" for finding in findings)


def test_a_driver_too_old_for_the_wheels_fails_where_containers_see_the_gpu(checkout: Path):
    _, findings = examine(FakeWorld(checkout, docker() | {"nvidia-smi": Output(0, GPU.replace("580.95.05", "550.54"))}), Settings())
    assert by_name(findings)["Driver for CUDA"].status == "fail"


def test_without_an_image_no_container_is_started(checkout: Path):
    world = FakeWorld(checkout, docker(images="") | {"nvidia-smi": Output(0, GPU)})
    _, findings = examine(world, Settings())
    assert not any(command.startswith("docker run") for command in world.asked)
    assert "not tried" in by_name(findings)["GPU in containers"].seen
    assert "server image 40" in by_name(findings)["Disk space"].seen


def test_a_container_that_hangs_is_removed(checkout: Path):
    hanging = docker() | {"docker run": Output(None, problem="timeout")}
    world = FakeWorld(checkout, hanging | {"nvidia-smi": Output(0, GPU)})
    examine(world, Settings())
    assert any(command.startswith("docker rm --force gspo-bench-doctor-") for command in world.asked)


def test_an_unknown_preset_names_those_there_are(checkout: Path):
    _, findings = examine(FakeWorld(checkout, docker() | {"nvidia-smi": Output(0, GPU)}), Settings(preset="l40"))
    assert by_name(findings)["PRESET"].status == "fail"
    assert "h100-h200" in by_name(findings)["PRESET"].action


def test_what_the_server_or_the_run_would_refuse_is_a_line_each_with_its_value_and_what_to_do(checkout: Path, capsys, monkeypatch):
    for key in ("STACK", "PORT", "MODEL", "PRESET", "GPUS", "STEPS", "MAX_TOKENS", "REPEAT", "NODES", "BACKEND_CONFIG", *FLAGS):
        monkeypatch.delenv(key, raising=False)
    (checkout / ".env").write_text("PRESET=cpuu\nSTEPS=0\nMAX_TOKENS=many\nBACKEND_CONFIG=[1]\n")
    monkeypatch.setenv("MAX_TOKENS", "96")
    assert main([], FakeWorld(checkout, docker())) == 1
    printed = capsys.readouterr().out
    assert "fail  PRESET             there is no preset 'cpuu'\n      > PRESET=cpu make bench     # or: a100, cpu-learn, cpu," in printed
    assert "fail  STEPS              it is '0', no whole number from 1 to 100,000\n      > STEPS=8 make bench" in printed
    assert "fail  BACKEND_CONFIG     it is no JSON object: '[1]'\n      > BACKEND_CONFIG='{" in printed
    assert "MAX_TOKENS" not in printed
    assert "3 things stand in the way" in printed and "Or do without" not in printed


def test_the_cpu_stack_on_a_gpu_machine_does_not_ask_for_the_gpu(checkout: Path):
    world = FakeWorld(checkout, docker() | {"nvidia-smi": Output(0, GPU)})
    assert examine(world, Settings(stack="cpu"))[0] == "cpu"
    assert not any("nvidia-smi" in command for command in world.asked)


def test_a_hub_model_on_the_cpu_stack_is_asked_for_unless_the_user_forbids_it(checkout: Path):
    model = "Qwen/Qwen3-0.6B"
    _, untold = examine(FakeWorld(checkout, docker()), Settings(model=model))
    _, offline = examine(FakeWorld(checkout, docker()), Settings(model=model, offline=True))
    assert by_name(untold)["Model"].status == "ok"
    assert by_name(offline)["Model"].action.startswith("HF_HUB_OFFLINE=0 make bench")


def test_the_results_folder_is_the_one_that_was_set(checkout: Path):
    (checkout / "elsewhere").write_text("")
    _, findings = examine(FakeWorld(checkout, docker()), Settings(results="elsewhere"))
    assert by_name(findings)["results/"].status == "fail"


def test_the_screen_names_what_to_type_below_the_line_and_wraps_no_command():
    command = "sudo " + "x" * 100
    text = screen([ok("Port", "8000 is free"), fail("Disk space", "seven words " * 10, command)], "Title", "cuda", 60, colour=False)
    assert f"      > {command}" in text.splitlines()
    assert "\033" not in text
    assert text.endswith("One thing stands in the way of `make bench`. Type what follows each > above, from the top, then: make doctor")


def test_faults_of_the_gpu_alone_leave_the_cpu_stack_as_a_way_out():
    assert screen([fail("GPU memory", "short", "x")], "Title", "cuda", 80, colour=False).endswith(
        "\nOr do without the GPU: STACK=cpu make bench"
    )
    assert "Or do" not in screen([fail("Port", "taken", "x")], "Title", "cuda", 80, colour=False)


def test_json_says_ready_and_has_every_finding(checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    for key in ("STACK", "PORT", "MODEL", "PRESET", "GPUS"):
        monkeypatch.delenv(key, raising=False)
    (checkout / ".env").write_text("HF_TOKEN=hf_secret\nSTACK=cuda\n")
    assert main(["--json"], FakeWorld(checkout, docker() | {"nvidia-smi": Output(0, GPU)})) == 0
    printed = capsys.readouterr().out
    report = json.loads(printed)
    assert (report["ready"], report["stack"]) == (True, "cuda")
    assert set(report["findings"][0]) == {"name", "status", "seen", "action"}
    assert "hf_secret" not in printed


def test_a_stack_a_port_and_a_number_of_gpus_that_cannot_be_are_lines_of_the_table(checkout: Path, capsys, monkeypatch):
    for key, value in (("STACK", "gpu"), ("PORT", "70000"), ("GPUS", "0")):
        monkeypatch.setenv(key, value)
    assert main([], FakeWorld(checkout, docker())) == 1
    ended = capsys.readouterr()
    assert ended.err == ""
    assert "fail  STACK              it is 'gpu', neither cpu nor cuda\n      > STACK=cpu make bench     # or STACK=cuda;" in ended.out
    assert "fail  PORT               it is '70000', no whole number from 1 to 65,535\n      > PORT=8000 make bench" in ended.out
    assert "fail  GPUS               it is '0', no whole number from 1 to 1,024, nor all\n      > GPUS=1 make bench" in ended.out
    assert "ok    Docker engine" in ended.out and "3 things stand in the way" in ended.out
    assert " is free" not in ended.out  # no other port is judged instead


def test_misspelt_flags_are_lines_of_the_table_and_only_the_benchmarks_own_are_in_its_way(checkout: Path, capsys, monkeypatch):
    for key in ("STACK", "PORT", "MODEL", "PRESET", "GPUS"):
        monkeypatch.delenv(key, raising=False)
    (checkout / "bench").symlink_to(ROOT / "bench")
    monkeypatch.setenv("SWEEP_ARGS", "--memory-limit-gb 20")
    assert main([], FakeWorld(checkout, docker())) == 0
    assert "warn  SWEEP_ARGS         sweep has no flag '--memory-limit-gb'\n      > SWEEP_ARGS='--memory-limit-gib 20' make sweep" in (
        capsys.readouterr().out
    )
    monkeypatch.setenv("BENCH_ARGS", "--contrl")
    assert main([], FakeWorld(checkout, docker())) == 1
    assert "fail  BENCH_ARGS         run has no flag '--contrl'\n      > BENCH_ARGS=--control make bench" in capsys.readouterr().out


NO_SUCH = "error: the jax backend has no setting trane.\nIts settings are the fields of JaxBackendConfig in skyrl.backends.jax.\n"


def test_the_server_s_image_is_asked_about_a_backend_config_and_a_model_s_folder(checkout: Path):
    asked = Settings(stack="cpu", model="/models/nope", backend_config='{"trane": 1}', project="gspo-bench")
    engine = {
        "docker run --rm --pull never --network none --tmpfs /tmp --name": Output(2, "", NO_SUCH),
        **docker(),
        "docker volume ls": Output(0, "gspo-bench_cache\n"),
    }
    del engine["docker"]
    world = FakeWorld(checkout, engine)
    found = by_name(examine(world, asked)[1])
    assert (found["BACKEND_CONFIG"].status, found["BACKEND_CONFIG"].seen.split(";")[0]) == (
        "fail",
        "the jax backend has no setting trane. Its settings are the fields of JaxBackendConfig in skyrl.backends.jax",
    )
    runs = [command for command in world.asked if command.startswith("docker run")]
    assert runs[0].endswith('gspo-bench-server:cpu --check-only --model=/models/nope --backend=jax --backend-config={"trane": 1} --gpus=1')
    mount = "--mount type=volume,source=gspo-bench_cache,target=/cache,readonly"
    assert runs[1].endswith(f"{mount} --entrypoint test gspo-bench-server:cpu -f /models/nope/config.json")
    # `test` ends with 1 where there is no such file; the 2 above is none of its answers.
    assert found["Model"].status == "warn"
    engine["docker run --rm --pull never --network none --tmpfs /tmp --name"] = Output(1)
    found = by_name(examine(FakeWorld(checkout, engine), asked)[1])
    assert found["Model"].status == "fail" and "BACKEND_CONFIG" not in found


NO_PARTS = """error: this model's hidden_size, 128, cannot be cut into 3 equal parts (fully_sharded_data_parallel_size).
Give --gpus (GPUS) a number that can be: 1, 2, 4, 8, 16, 32, 64, 128.
"""


def test_the_server_s_image_is_asked_about_a_number_of_gpus(checkout: Path):
    engine = {"docker run --rm --pull never --network none --tmpfs /tmp --name": Output(2, "", NO_PARTS), **docker()}
    del engine["docker"]
    world = FakeWorld(checkout, engine)
    found = by_name(examine(world, Settings(stack="cpu", gpus=3, project="gspo-bench"))[1])
    assert (found["GPUS"].status, found["GPUS"].seen) == ("fail", " ".join(NO_PARTS.split()).removeprefix("error: ").rstrip("."))
    (run,) = [command for command in world.asked if command.startswith("docker run")]
    assert run.endswith("gspo-bench-server:cpu --check-only --model=/models/tiny-qwen3 --backend=jax --backend-config= --gpus=3")
    # All of a container's that sees no GPU are one; one needs no question.
    for gpus, asked in ((0, 1), (1, 0)):
        world = FakeWorld(checkout, engine)
        examine(world, Settings(stack="cpu", gpus=gpus, project="gspo-bench"))
        runs = [command for command in world.asked if command.startswith("docker run")]
        assert len(runs) == asked and not any("--gpus" in command for command in runs)


def test_what_other_targets_would_refuse_is_warned_of(checkout: Path):
    settings = Settings(stack="cpu", sweep="nofile", task="gsm9k", flags=(("SWEEP_ARGS", "--time-budget-s abc"),))
    found = by_name(examine(FakeWorld(checkout, docker()), settings)[1])
    assert [found[name].status for name in ("SWEEP", "TASK", "SWEEP_ARGS")] == ["warn"] * 3


def test_an_image_that_is_not_built_is_asked_nothing(checkout: Path):
    world = FakeWorld(checkout, docker(images=""))
    _, findings = examine(world, Settings(stack="cpu", model="/models/nope", backend_config='{"trane": 1}'))
    assert not any(command.startswith("docker run") for command in world.asked)
    assert by_name(findings)["Model"].status == "warn"


def test_the_cpu_image_s_own_model_is_there(checkout: Path):
    world = FakeWorld(checkout, docker())
    _, findings = examine(world, Settings(stack="cpu"))
    assert by_name(findings)["Model"].status == "ok"
    assert not any(command.startswith("docker run") for command in world.asked)


def test_a_command_past_its_limit_is_ended_with_its_children():
    assert run(["sh", "-c", "sleep 60 & sleep 60"], 0.3).problem == "timeout"


def doctor(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    python = [sys.executable, "-S", *(["-c", code] if code else ["-m", "bench", "doctor"]), *arguments]
    kept = {key: value for key, value in os.environ.items() if key not in ("STACK", "PORT", "MODEL", "PRESET", "GPUS", "PYTHONPATH")}
    return subprocess.run(python, cwd=ROOT, env=kept | environment, capture_output=True, text=True, timeout=60, check=False)


def test_help_needs_nothing_outside_the_standard_library():
    code = (
        "import runpy, sys\n"
        "sys.argv = ['bench', 'doctor', '--help']\n"
        "try: runpy.run_module('bench', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end: assert end.code == 0, end.code\n"
        "import bench.doctor.examine\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print('LOADED', *sorted(roots - set(sys.stdlib_module_names) - {'__main__', 'bench'}))\n"
    )
    ended = doctor(code=code)
    assert ended.stderr == ""
    assert ended.stdout.splitlines()[-1].split() == ["LOADED"]
    assert ended.stdout.startswith("usage: python3 -m bench doctor")


def test_the_doctor_imports_no_other_part_of_bench_but_how_flags_are_read():
    ended = doctor(code="import sys, bench.doctor.main\nprint(*(name for name in sys.modules if name.startswith('bench.')))")
    assert ended.stdout.split() != []
    others = {name for name in ended.stdout.split() if not name.startswith("bench.doctor")}
    assert others == {"bench.arguments", "bench.errors", "bench.image", "bench.json_object"}


def test_a_machine_without_docker_ends_with_1_and_says_how_to_install_it():
    ended = doctor(PATH="", STACK="cpu")
    assert ended.returncode == 1
    assert "fail  Docker engine" in ended.stdout
    assert "get.docker.com" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


def test_an_unknown_flag_is_two_lines_and_ends_with_2():
    ended = doctor("--frobnicate")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "bench: unrecognized arguments: --frobnicate.\nSee python3 -m bench doctor --help.\n"
