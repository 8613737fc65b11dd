"""Symptoms of Docker's engine and of Compose, in the words that they print."""

import json

import pytest

from bench.doctor.commands import Output
from bench.doctor.engine import judge_compose, judge_engine, read_info

INFO = {"ServerVersion": "27.5.1", "DockerRootDir": "/var/lib/docker"}


def info(**changes: object) -> Output:
    return Output(0, json.dumps(INFO | changes))


def test_an_engine_that_answers_is_ok_with_its_version():
    finding = judge_engine(info(), "/usr/bin/docker", "cuda")
    assert (finding.status, finding.seen) == ("ok", "27.5.1")


def test_a_missing_docker_says_how_to_install_it():
    finding = judge_engine(Output(None, problem="missing"), "", "cpu")
    assert finding.status == "fail"
    assert "get.docker.com" in finding.action


@pytest.mark.parametrize(
    "message",
    [
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct and if the daemon is running",
    ],
)
def test_a_daemon_that_is_down_is_to_be_started(message: str):
    # docker prints an object of zeros on stdout all the same
    output = Output(1, json.dumps({"ServerVersion": "", "ServerErrors": [message]}), message)
    finding = judge_engine(output, "/usr/bin/docker", "cpu")
    assert (finding.status, finding.action) == ("fail", "sudo systemctl enable --now docker")


def test_a_context_that_names_no_engine_is_told_from_a_stopped_daemon():
    output = Output(1, "", "Cannot connect to the Docker daemon at unix:///home/a/.docker/run.sock. Is the docker daemon running?")
    assert "docker context ls" in judge_engine(output, "/usr/bin/docker", "cpu").action


@pytest.mark.parametrize("what", ["Docker daemon socket", "docker API"])
def test_a_user_outside_the_docker_group_is_told_to_join_it(what: str):
    output = Output(
        1, "{}", f"permission denied while trying to connect to the {what} at unix:///var/run/docker.sock: connect: permission denied"
    )
    finding = judge_engine(output, "/usr/bin/docker", "cuda")
    assert finding.status == "fail"
    assert finding.action.splitlines()[0] == 'sudo usermod -aG docker "$USER"'


@pytest.mark.parametrize(("stack", "status"), [("cuda", "fail"), ("cpu", "warn")])
def test_docker_from_snap_is_in_the_way_of_a_gpu_only(stack: str, status: str):
    finding = judge_engine(info(DockerRootDir="/var/snap/docker/common/var-lib-docker"), "/snap/bin/docker", stack)
    assert finding.status == status
    assert finding.action.startswith("sudo snap remove docker\n")


def test_an_engine_that_hangs_is_to_be_restarted():
    assert judge_engine(Output(None, problem="timeout"), "/usr/bin/docker", "cpu").action == "sudo systemctl restart docker"


def test_podman_under_the_name_of_docker_is_named():
    output = Output(0, json.dumps({"host": {}}), "Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.")
    assert "podman" in judge_engine(output, "/usr/bin/docker", "cpu").seen
    assert read_info(output) == {}


@pytest.mark.parametrize("version", ["2.24.0", "v2.24.6", "2.26.1-4", "2.40.3", "5.0.1", "Docker Compose version v2.29.1"])
def test_compose_from_2_24_on_is_ok(version: str):
    assert judge_compose(Output(0, version + "\n")).status == "ok"


@pytest.mark.parametrize("version", ["2.23.3", "v2.3.3", "1.29.2"])
def test_an_older_compose_fails_with_what_it_is_and_what_is_needed(version: str):
    finding = judge_compose(Output(0, version + "\n"))
    assert finding.status == "fail"
    assert finding.seen == f"have {version}, need 2.24 or newer"


@pytest.mark.parametrize(
    "message",
    ["docker: 'compose' is not a docker command.", "unknown shorthand flag: 's' in -short", "docker: unknown command: docker compose"],
)
def test_a_missing_compose_plugin_says_how_to_install_it(message: str):
    finding = judge_compose(Output(1, "", f"{message}\nSee 'docker --help'"))
    assert finding.status == "fail"
    assert "docker-compose-plugin" in finding.action
