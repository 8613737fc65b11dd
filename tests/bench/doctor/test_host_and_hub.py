"""Disk, port, results folder, model, and the settings that name them."""

from pathlib import Path

import pytest

from bench.doctor.commands import Output
from bench.doctor.host import image_folders, judge_disk, judge_port, judge_results, model_gib
from bench.doctor.hub import is_complete, judge_folder, judge_model
from bench.doctor.settings import Settings, project_name, read_dotenv, read_settings
from bench.doctor.world import World

MODEL = "Qwen/Qwen3-0.6B"
SNAPSHOT = "/cache/huggingface/hub/models--Qwen--Qwen3-0.6B/snapshots/c1899de"


def test_disk_is_held_against_the_sum_of_what_is_still_to_come():
    needs = {"server image": 40.0, "model": 2.0}
    assert judge_disk(44.5, "/var/lib/docker", needs).status == "ok"
    short = judge_disk(43.5, "/var/lib/docker", needs)
    assert (short.status, short.action.splitlines()[0].split("  ")[0]) == ("fail", "docker system df")


def test_a_docker_folder_on_another_machine_is_a_warning():
    assert judge_disk(None, "/var/lib/docker", {}).status == "warn"


def test_containerd_s_image_store_is_looked_at_too():
    assert image_folders({"DockerRootDir": "/data/docker"}) == ["/data/docker"]
    store = {"DockerRootDir": "/var/lib/docker", "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]]}
    assert image_folders(store) == ["/var/lib/docker", "/var/lib/containerd"]


@pytest.mark.parametrize(
    ("model", "gib"), [(MODEL, 1.7), ("Qwen/Qwen3-4B-Instruct-2507", 8.5), ("Qwen/Qwen3-30B-A3B", 60.5), ("me/mine", 10.0)]
)
def test_a_model_s_size_is_guessed_from_its_name(model: str, gib: float):
    assert model_gib(model) == pytest.approx(gib)


def test_a_port_that_another_container_holds_names_it_and_a_free_one():
    finding = judge_port(8000, False, Output(0, "web-1\tshop\n"), "gspo-bench", 8001)
    assert finding.status == "fail"
    assert "web-1" in finding.seen
    assert finding.action.startswith("PORT=8001 make bench\n")


def test_a_port_that_our_own_server_holds_is_ok():
    assert judge_port(8000, False, Output(0, "gspo-bench-server-1\tgspo-bench\n"), "gspo-bench", 8001).status == "ok"


def test_a_port_that_a_program_holds_says_how_to_find_it():
    assert "sudo ss -ltnp 'sport = :8000'" in judge_port(8000, False, Output(None, problem="missing"), "gspo-bench", None).action


def test_a_port_in_use_is_seen(tmp_path: Path):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not World(tmp_path).port_is_free(port)
    assert World(tmp_path).port_is_free(port)


def test_results_that_can_be_written_are_left_as_they_were(tmp_path: Path):
    (tmp_path / "results").mkdir()
    assert judge_results(tmp_path / "results").status == "ok"
    assert list((tmp_path / "results").iterdir()) == []


def test_results_that_are_not_there_yet_are_no_failure(tmp_path: Path):
    finding = judge_results(tmp_path / "results")
    assert (finding.status, finding.seen) == ("ok", "will be made")
    assert not (tmp_path / "results").exists()


def test_results_below_folders_that_are_not_there_are_judged_by_the_nearest_that_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    finding = judge_results(tmp_path / "no" / "where" / "r")
    assert (finding.status, finding.seen) == ("ok", "will be made") and list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    finding = judge_results(tmp_path / "file" / "r")
    assert (finding.status, finding.seen) == ("fail", f"{tmp_path}/file is a file, and a folder is needed")
    assert finding.action == f"mv {tmp_path}/file {tmp_path}/file.old"

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    finding = judge_results(tmp_path / "no" / "where" / "r")
    assert (finding.status, finding.action) == ("fail", f'sudo chown "$(id -u):$(id -g)" {tmp_path}')


def test_results_whose_name_cannot_be_are_a_line_like_the_others(tmp_path: Path):
    finding = judge_results(tmp_path / ("x" * 5000))
    assert (finding.status, finding.action.split("  ")[0]) == ("fail", "RESULTS=./results make bench")
    assert finding.seen.endswith("cannot be looked at: File name too long") and len(finding.seen) < 120


def test_results_that_root_made_are_to_be_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "results").mkdir()
    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    finding = judge_results(tmp_path / "results")
    assert (finding.status, finding.action) == ("fail", f'sudo chown -R "$(id -u):$(id -g)" {tmp_path / "results"}')


@pytest.mark.parametrize(
    ("status", "token", "finding_status", "says"),
    [
        (200, "", "ok", "can be had"),
        (307, "", "ok", "can be had"),
        (401, "", "fail", "needs a token, or there is no such model"),
        (403, "hf_secret", "fail", "not open to your HF_TOKEN"),
        (404, "", "fail", "has no model"),
        (429, "", "warn", "too many downloads"),
        (503, "", "warn", "HTTP 503"),
        (None, "", "fail", "cannot be reached (timed out)"),
    ],
)
def test_the_hub_s_answer_is_told_in_words_and_the_token_is_not(status: int | None, token: str, finding_status: str, says: str):
    finding = judge_model(Settings(token=token), MODEL, False, False, (status, "timed out"))
    assert finding.status == finding_status
    assert says in finding.seen
    assert "hf_secret" not in finding.seen + finding.action + repr(Settings(token=token))


def test_a_cached_model_needs_no_hub():
    assert judge_model(Settings(), MODEL, True, True, (None, "")).status == "ok"


def test_an_offline_run_without_the_model_fails():
    assert "HF_HUB_OFFLINE" in judge_model(Settings(), MODEL, False, True, (None, "")).seen


@pytest.mark.parametrize(
    ("there", "on_host", "status", "seen"),
    [
        (True, False, "ok", "/m, a folder in the server's container: nothing to download"),
        (False, False, "fail", "the server's container has no folder /m with a config.json"),
        (
            False,
            True,
            "fail",
            "the server's container has no folder /m with a config.json; this machine's own folder of that name is not seen there",
        ),
        (
            None,
            False,
            "warn",
            "whether the server's container has the folder /m is not known: its image is not built yet, or did not start",
        ),
    ],
)
def test_a_model_s_folder_is_the_server_s_container_s_and_not_this_machine_s(there: bool | None, on_host: bool, status: str, seen: str):
    finding = judge_folder("/m", "cpu", there, on_host)
    assert (finding.status, finding.seen) == (status, seen)
    assert status == "ok" or finding.action.startswith("MODEL=/models/tiny-qwen3 make bench")


@pytest.mark.parametrize("token", ["hf_two\nlines", "hf_\u2019quote"])
def test_a_malformed_token_is_not_quoted_in_the_report(tmp_path: Path, token: str):
    status, problem = World(tmp_path).hub_status(Settings(hub="http://127.0.0.1:9", token=token), MODEL)
    assert status is None
    assert "hf_" not in problem.lower().replace("hf_endpoint", "").replace("hf_token", "")


def test_a_cache_is_complete_with_a_config_and_all_its_shards():
    config = f"{SNAPSHOT}/config.json\n"
    shards = [f"{SNAPSHOT}/model-0000{i}-of-00003.safetensors\n" for i in (1, 2, 3)]
    assert is_complete(config + f"{SNAPSHOT}/model.safetensors\n")
    assert is_complete(config + "".join(shards))
    assert not is_complete(config + "".join(shards[:2]))
    assert not is_complete(config)
    assert not is_complete("")


def test_dotenv_lines_are_read_as_compose_reads_them():
    text = "# mine\nPORT=8010\nexport MODEL='Qwen/Qwen3-4B' # big\nHF_TOKEN=\"hf_a b\"\nPRESET=a100 # why\nEMPTY=\nnot a line\n"
    assert read_dotenv(text) == {"PORT": "8010", "MODEL": "Qwen/Qwen3-4B", "HF_TOKEN": "hf_a b", "PRESET": "a100", "EMPTY": ""}


def test_the_environment_wins_over_dotenv_and_empty_means_default():
    settings = read_settings({"PORT": "9000", "MODEL": ""}, {"PORT": "8010", "MODEL": "x", "GPUS": "all"}, "gspo-bench")
    assert (settings.port, settings.model, settings.gpus) == (9000, "", 0)


def test_a_password_in_the_hub_s_address_is_dropped():
    assert read_settings({"HF_ENDPOINT": "https://me:pw@mirror.example/"}, {}, "p").hub == "https://mirror.example"


def test_a_setting_that_cannot_be_is_kept_as_written_beside_what_is_judged_instead():
    settings = read_settings({"PORT": "70000", "STACK": "gpu", "GPUS": "-1"}, {}, "p")
    assert (settings.port, settings.stack, settings.gpus) == (0, "", 1)
    assert settings.no_stack == "gpu"
    assert {name: value for name, value in settings.numbers if value} == {"PORT": "70000", "GPUS": "-1"}


def test_the_project_is_named_by_the_compose_file_or_its_folder():
    assert project_name("name: my-bench\nservices:\n", "x") == "my-bench"
    assert project_name("services:\n", "GSPO.Bench") == "gspobench"
