"""Which rows a scaling run has, and on which machines there is one."""

import pytest

from bench.errors import InputError
from bench.scale.plan import asked_gpus, backend_of, gpus_of, named_counts, parse_counts, planned_rows, usual_counts

FSDP = "trainer.placement.policy_num_gpus_per_node"


def test_the_same_batch_comes_first_and_the_grown_one_after_it_but_not_on_the_fewest_gpus() -> None:
    rows = planned_rows("fsdp", (1, 2, 4), {"trainer.micro_train_batch_size_per_gpu": 16})
    assert [(row.label, row.backend_config[FSDP], row.times) for row in rows] == [
        ("1-gpus-same", 1, 1),
        ("2-gpus-same", 2, 1),
        ("4-gpus-same", 4, 1),
        ("2-gpus-grown", 2, 2),
        ("4-gpus-grown", 4, 4),
    ]
    assert all(row.backend_config["trainer.micro_train_batch_size_per_gpu"] == 16 for row in rows)
    assert len({row.key for row in rows}) == 5


def test_from_two_gpus_the_batch_doubles_on_four() -> None:
    assert [(row.label, row.times) for row in planned_rows("fsdp", (2, 4), {})] == [
        ("2-gpus-same", 1),
        ("4-gpus-same", 1),
        ("4-gpus-grown", 2),
    ]


def test_the_jax_backend_counts_its_own_devices() -> None:
    (row,) = planned_rows("jax", (2,), {})
    assert row.backend_config == {"fully_sharded_data_parallel_size": 2}
    assert gpus_of(row.backend_config) == 2 and gpus_of({FSDP: 4}) == 4 and gpus_of({}) == 1


@pytest.mark.parametrize("counts", [(), (0, 1), (2, 1), (2, 2), (2, 3), (-1, 1)])
def test_numbers_that_do_not_rise_by_multiples_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="rise, each a multiple of the first"):
        planned_rows("fsdp", counts, {})


@pytest.mark.parametrize("text", ["", "two", "1,", "1;2", "1.5"])
def test_what_is_no_list_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="give numbers with commas between"):
        parse_counts(text)
    assert parse_counts("1,2,8") == (1, 2, 8)


def test_the_usual_numbers_are_those_that_the_machine_has() -> None:
    assert usual_counts("fsdp", lambda: 2, 64) == ((1, 2), "")
    assert usual_counts("fsdp", lambda: 8, 64) == ((1, 2, 4, 8), "")
    assert usual_counts("jax", lambda: None, 2) == ((1, 2), "")
    assert usual_counts("jax", lambda: None, 64) == ((1, 2, 4, 8), "")
    assert usual_counts("jax", lambda: 4, 2) == ((1, 2, 4), "")


def test_gpus_that_stay_idle_are_told() -> None:
    assert usual_counts("fsdp", lambda: 7, 64) == ((1, 2, 4), "of this machine's 7 GPUs 4 are taken at most; --gpus 1,7 takes all")
    assert usual_counts("fsdp", lambda: 16, 64)[0] == (1, 2, 4, 8)


def test_the_number_that_was_asked_for_is_the_last_one_and_no_more_are_taken() -> None:
    assert usual_counts("fsdp", lambda: 8, 64, 3) == ((1, 2, 3), "")
    assert usual_counts("fsdp", lambda: 8, 64, 4) == ((1, 2, 4), "")
    assert usual_counts("fsdp", lambda: 16, 64, 12) == ((1, 2, 4, 8, 12), "")
    # Where the machine does not tell, what was asked for is believed.
    assert usual_counts("fsdp", lambda: None, 64, 2) == ((1, 2), "")


def test_a_number_that_the_processor_does_not_have_is_not_taken_and_told_with_why() -> None:
    told = "GPUS=3: 3 is not taken, for this machine has 2 processors; SCALE_ARGS='--gpus 1,2,3' asks for all"
    assert usual_counts("jax", lambda: None, 2, 3) == ((1, 2), told)
    counts, told = usual_counts("jax", lambda: None, 2, 8)
    assert counts == (1, 2) and told.startswith("GPUS=8: 4 and 8 are not taken, for this machine has 2 processors;")


@pytest.mark.parametrize(
    ("backend", "gpus", "asked", "says"),
    [
        ("fsdp", 2, 3, "GPUS=3: this machine has 2 GPUs."),
        ("fsdp", 2, 1, "nothing to scale over: GPUS=1 asks for one."),
        ("jax", None, 1, "nothing to scale over: GPUS=1 asks for one."),
    ],
)
def test_a_number_with_which_nothing_can_be_is_refused(backend: str, gpus: int | None, asked: int, says: str) -> None:
    with pytest.raises(InputError, match=says):
        usual_counts(backend, lambda: gpus, 4, asked)


def test_the_flag_goes_before_gpus_and_says_so() -> None:
    assert named_counts("1,2", None, "fsdp") == named_counts("1,2", 2, "fsdp") == ((1, 2), "")
    assert named_counts("1,2", 3, "jax") == ((1, 2), "GPUS=3 is not taken, for --gpus 1,2 says which numbers are")
    with pytest.raises(InputError, match="--gpus 1,4: GPUS=2 gives the server's container fewer"):
        named_counts("1,4", 2, "fsdp")


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "99999", "²", "9" * 5000])
def test_gpus_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"GPUS is .*\nGive a whole number from 1, or all\."):
        asked_gpus(text)
    assert (asked_gpus(""), asked_gpus("all"), asked_gpus("03")) == (None, None, 3)


@pytest.mark.parametrize(
    ("backend", "gpus", "says"), [("fsdp", 1, "has 1 GPU."), ("fsdp", None, "has no GPU."), ("jax", 0, "has 1 processor.")]
)
def test_a_machine_of_one_device_is_refused(backend: str, gpus: int | None, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        usual_counts(backend, lambda: gpus, 1)
    assert raised.value.exit_code == 2


def test_the_backend_is_the_server_commands_or_the_stacks() -> None:
    assert backend_of("python serve.py --model m --backend jax", "") == "jax"
    assert backend_of("python serve.py --backend=jax --model m", "cuda") == "jax"
    assert backend_of("python serve.py --model m", "cpu") == "fsdp"
    assert (backend_of(None, "cpu"), backend_of(None, "cuda"), backend_of(None, "")) == ("jax", "fsdp", "fsdp")
    with pytest.raises(InputError, match="cannot be read"):
        backend_of("serve.py 'x", "")
