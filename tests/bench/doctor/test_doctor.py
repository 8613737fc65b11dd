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
from bench.doctor.settings import Settings
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
    for key in ("STACK", "PORT", "MODEL", "PRESET", "GPUS", "STEPS", "MAX_TOKENS", "REPEAT", "NODES", "BACKEND_CONFIG"):
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


def test_a_wrong_setting_ends_with_2_and_two_lines(checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STACK", "gpu")
    assert main([], FakeWorld(checkout, docker())) == 2
    assert capsys.readouterr().err.splitlines()[0] == "bench: STACK is 'gpu'."


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
    assert others == {"bench.arguments", "bench.errors", "bench.json_object"}


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
