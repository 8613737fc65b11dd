"""make bench on the CPU stack from end to end, as a user runs it: its files, its exit codes, and what it leaves behind.

Runs on the host with nothing but pytest, Docker and make; imports nothing of this repository but its own folder.
"""

import json
import os
import re
import subprocess
import time

import pytest

from tests.stack.stack import PROJECT, ROOT, compose_config, environment, left_over, run

pytestmark = pytest.mark.stack

PNG = b"\x89PNG\r\n\x1a\n"
PAIRS = 4


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stack") / "results"  # not there yet: make makes it
    yield folder
    run("docker", "compose", "down", "--volumes", "--remove-orphans", results=folder)


@pytest.fixture(scope="module")
def benched(results):
    """make bench, once; the images are built before, so that the time is that of a user's second run."""
    built = run("docker", "compose", "--file", "compose.yaml", "--file", "compose.cpu.yaml", "build", results=results)
    assert built.returncode == 0, built.stderr
    started_s = time.monotonic()
    ended = run("make", "bench", results=results, STEPS=str(PAIRS))
    ended.seconds = time.monotonic() - started_s
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended


@pytest.fixture(scope="module")
def document(benched, results):
    return json.loads((results / "last_gspo_bench.json").read_text())


def test_it_says_which_stack_it_uses(benched):
    assert benched.stdout.splitlines().count("Stack: cpu, as asked for.") == 1


def test_the_result_file_is_complete_and_of_this_run(document):
    assert (document["schema"], document["kind"], document["status"]) == (1, "gspo-bench", "complete")
    for path in ("native_1pass", "custom_2pass"):
        assert len(document[path]["times"]) == PAIRS
        assert all(0 < step_s < 60 for step_s in document[path]["times"])
    assert document["summary"]["batch_seqs"] == 16
    assert document["comparisons"][0]["pairs"] == PAIRS


def test_the_result_file_names_both_images_by_id(document):
    environment = document["environment"]
    for image, name in ((environment["server"]["image"], "gspo-bench-server:cpu"), (environment["client"]["image"], "gspo-bench-client")):
        listed = subprocess.run(["docker", "image", "inspect", "--format", "{{.Id}}", name], capture_output=True, text=True, check=True)
        assert image == listed.stdout.strip()


def test_the_result_file_says_what_the_weights_were_trained_on(document):
    assert document["environment"]["server"]["weights"] == "arithmetic"


def test_the_summary_is_printed_as_one_line_of_json(benched, document):
    line = next(line for line in benched.stdout.splitlines() if line.startswith("BENCH_RESULT "))
    assert json.loads(line.removeprefix("BENCH_RESULT ")) == document["summary"]


def test_a_plot_is_drawn(benched, results):
    assert (results / "bench_gspo_bars.png").read_bytes().startswith(PNG)


def test_a_page_of_all_results_is_written_and_says_the_verdict(benched, document, results):
    page = (results / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert document["settings"]["base_url"] in page and "The two paths" in page


def test_every_file_belongs_to_whoever_called(benched, results):
    # Root's containers do not run as root: its files are user 1000's.
    owner = os.getuid() or int(os.environ.get("SUDO_UID", "1000"))
    assert {path.stat().st_uid for path in results.rglob("*")} == {owner}


def test_nothing_is_left_running(benched):
    assert left_over("container") == []
    assert left_over("network") == []


def test_it_takes_no_longer_than_90_seconds(benched):
    assert benched.seconds < 90


def test_the_plots_are_drawn_again_without_a_server(benched, results):
    picture = results / "bench_gspo_bars.png"
    picture.unlink()
    ended = run("make", "plots", results=results)
    assert ended.returncode == 0, ended.stderr
    assert picture.read_bytes().startswith(PNG)
    assert left_over("container") == []


@pytest.mark.parametrize(("setting", "says"), [({"STACK": "gpu"}, "STACK is 'gpu'."), ({"BENCH_ARGS": "--steps 0"}, "--steps")])
def test_wrong_usage_is_exit_code_2(results, setting, says):
    ended = run("docker/bench.sh", results=results, **setting)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert left_over("container") == []


def test_settings_that_the_server_refuses_end_it_soon_with_its_words_and_exit_code_2(results):
    started_s = time.monotonic()
    ended = run("docker/bench.sh", results=results, BACKEND_CONFIG='{"max_lora_rang": 8}')
    assert ended.returncode == 2
    assert time.monotonic() - started_s < 60
    assert "the jax backend has no setting max_lora_rang (max_lora_rank?)." in ended.stderr
    assert left_over("container") == []


def test_a_server_killed_between_steps_ends_it_with_exit_code_3_and_a_partial_file(benched, tmp_path):
    command = {"cwd": ROOT, "env": environment(tmp_path, STEPS="500"), "text": True}
    with subprocess.Popen(["docker/bench.sh"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **command) as running:
        said = []
        for line in running.stdout:
            said.append(line)
            if sum("step: two-pass" in entry for entry in said) == 2:
                servers = ["docker", "ps", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}"]
                found = subprocess.run([*servers, "--filter", "label=com.docker.compose.service=server"], capture_output=True, check=True)
                subprocess.run(["docker", "kill", found.stdout.decode().strip()], capture_output=True, check=True)
                break
        killed_s = time.monotonic()
        said.append(running.stdout.read())
        assert running.wait(timeout=60) == 3, "".join(said)
    assert time.monotonic() - killed_s < 30
    assert "the server's container has ended" in "".join(said)
    partial = json.loads((tmp_path / "last_gspo_bench.json").read_text())
    assert partial["status"] == "partial"
    assert partial["custom_2pass"]["n"] >= 1
    assert left_over("container") == []


@pytest.mark.parametrize("files", [["compose.yaml"], ["compose.yaml", "compose.cpu.yaml"]], ids=["cuda", "cpu"])
def test_every_service_is_contained(files):
    services = compose_config(*files)
    assert sorted(services) == ["bench", "plots", "server"]
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"]
        # What the client's entry needs to become the results folder's owner; it drops them before any other code runs.
        assert service.get("cap_add", []) == ([] if name == "server" else ["SETUID", "SETGID"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert "docker.sock" not in json.dumps(service)
        assert not service.get("privileged")
        assert {port["host_ip"] for port in service.get("ports", [])} <= {"127.0.0.1"}


def test_only_the_cuda_stack_reserves_a_gpu():
    cuda, cpu = compose_config("compose.yaml")["server"], compose_config("compose.yaml", "compose.cpu.yaml")["server"]
    assert cuda["deploy"]["resources"]["reservations"]["devices"] == [{"capabilities": ["gpu"], "count": 1, "driver": "nvidia"}]
    assert "devices" not in json.dumps(cpu)


@pytest.mark.parametrize("image", ["gspo-bench-server:cpu", "gspo-bench-client"])
def test_images_run_as_nobody_special_and_carry_no_secret(benched, image):
    command = ["docker", "image", "inspect", "--format", "{{json .Config}}", image]
    config = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert config["User"] == "bench"
    assert not [entry for entry in config["Env"] if re.search(r"TOKEN|SECRET|PASSWORD", entry.split("=")[0])]


def test_the_client_draws_as_any_user_under_a_read_only_root(benched, results):
    folder = results.parent / "elsewhere"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    mounts = ["--volume", f"{results}:/results:ro", "--volume", f"{folder}:/out"]
    flags = ["--rm", "--user", "12345:12345", "--read-only", "--tmpfs", "/tmp", "--network", "none", *mounts]
    drawn = ["plots", "/results/last_gspo_bench.json", "--out", "/out/bars.png"]
    ended = subprocess.run(["docker", "run", *flags, "gspo-bench-client", *drawn], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (folder / "bars.png").read_bytes().startswith(PNG)
