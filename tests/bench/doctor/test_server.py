"""What the launcher in the server's image answers."""

from bench.doctor.commands import Output
from bench.doctor.server import look_for_folder, refusal, try_settings

NO_SETTING = "error: the jax backend has no setting trane.\nIts settings are the fields of JaxBackendConfig in skyrl.backends.jax.\n"


def test_a_refusal_is_one_line() -> None:
    said = "the jax backend has no setting trane. Its settings are the fields of JaxBackendConfig in skyrl.backends.jax"
    assert refusal(Output(2, "", NO_SETTING)) == said
    assert refusal(Output(2, "", f"UserWarning: error: of another kind\n{NO_SETTING}")) == said


def test_settings_that_can_be_a_container_that_cannot_start_and_an_older_image_are_no_refusal() -> None:
    assert refusal(Output(0)) == ""
    assert refusal(Output(None, problem="timeout")) == ""
    assert refusal(Output(125, "", "docker: Error response from daemon: error: no space")) == ""
    assert refusal(Output(2, "", "usage: serve.py ...\nserve.py: error: unrecognized arguments: --check-only")) == ""


def test_all_gpus_are_none_that_the_launcher_is_told() -> None:
    command = try_settings("server:cuda", "cuda", "a/b", "{}", 0, [], "d")
    assert command[-3:] == ["--model=a/b", "--backend=fsdp", "--backend-config={}"] and "--gpus" not in " ".join(command)
    assert try_settings("server:cuda", "cuda", "a/b", "{}", 4, [], "d")[-1] == "--gpus=4"


def test_the_launcher_sees_the_cache_which_may_hold_the_model() -> None:
    command = " ".join(try_settings("i", "cpu", "/cache/m", "", 3, ["p_cache"], "d"))
    assert "--mount type=volume,source=p_cache,target=/cache,readonly i --check-only --model=/cache/m" in command
    assert refusal(Output(2, "", "error: there is no folder /cache/m.\nGive --model (MODEL) a name.\n")) == ""


def test_a_folder_is_looked_for_with_the_cache_where_there_is_one() -> None:
    mount = "--mount type=volume,source=p_cache,target=/cache,readonly"
    assert " ".join(look_for_folder("i", "/cache/m", ["p_cache"], "d")).endswith(
        f"--name d {mount} --entrypoint test i -f /cache/m/config.json"
    )
    assert "--mount" not in look_for_folder("i", "/m", [], "d")
