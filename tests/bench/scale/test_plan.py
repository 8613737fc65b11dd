"""Which rows a scaling run has, and on which machines there is one."""

import pytest

from bench.errors import InputError
from bench.scale.plan import backend_of, gpus_of, parse_counts, planned_rows, usual_counts

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
    assert usual_counts("fsdp", lambda: 2, 64) == (1, 2)
    assert usual_counts("fsdp", lambda: 7, 64) == (1, 2, 4)
    assert usual_counts("fsdp", lambda: 16, 64) == (1, 2, 4, 8)
    assert usual_counts("jax", lambda: None, 2) == (1, 2)
    assert usual_counts("jax", lambda: 4, 2) == (1, 2, 4)


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
