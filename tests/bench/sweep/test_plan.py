"""Reading which settings a sweep takes."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.errors import InputError
from bench.sweep.plan import canonical, read_plan, shipped


def written(folder: Path, document: Any) -> str:
    path = folder / "settings.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_every_shipped_sweep_is_read_and_compares_with_stock() -> None:
    assert shipped() == ["cpu", "h200", "l4"]
    for name in shipped():
        rows = read_plan(name)
        assert len(rows) >= 6
        assert rows[0].label.startswith("stock")
        assert not [key for key in rows[0].backend_config if key.startswith("trainer.")]


def test_the_shipped_sweeps_for_gpus_give_both_passes_the_same_micro_batch() -> None:
    for row in (*read_plan("h200"), *read_plan("l4")):
        assert row.backend_config.get("trainer.micro_train_batch_size_per_gpu") == row.backend_config.get(
            "trainer.micro_forward_batch_size_per_gpu"
        )


def test_settings_under_all_rows_are_in_each_and_a_rows_own_go_over_them(tmp_path: Path) -> None:
    rows = [{"label": "a", "backend_config": {}}, {"label": "b", "backend_config": {"x": 2, "y": 3}, "steps": 2}]
    first, second = read_plan(written(tmp_path, {"backend_config": {"x": 1}, "rows": rows}))
    assert (first.label, first.backend_config, first.steps) == ("a", {"x": 1}, None)
    assert (second.label, second.backend_config, second.steps) == ("b", {"x": 2, "y": 3}, 2)


def test_a_bare_list_is_a_sweep_too(tmp_path: Path) -> None:
    (row,) = read_plan(written(tmp_path, [{"label": "a", "backend_config": {"x": 1}}]))
    assert row.key == '{"x":1}'


def test_settings_are_the_same_in_whatever_order_they_stand() -> None:
    assert canonical({"b": {"d": 1, "c": 2}, "a": True}) == canonical({"a": True, "b": {"c": 2, "d": 1}}) == '{"a":true,"b":{"c":2,"d":1}}'


A = {"label": "a", "backend_config": {}}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "has no rows"),
        ([], "has no rows"),
        (3, "has no rows"),
        ([3], "row 1 must be an object"),
        ([A | {"step": 2}], "row 1 must be an object with label, backend_config and at most steps"),
        ([{"backend_config": {}}], "row 1: label is null"),
        ([A | {"label": "../x"}], "row 1: label is"),
        ([A | {"label": "a" * 61}], "row 1: label is"),
        ([{"label": "a"}], "row 1: backend_config is null"),
        ([A | {"backend_config": [1]}], "row 1: backend_config is [1]"),
        ({"backend_config": 3, "rows": [A]}, "backend_config is 3"),
        ([A | {"steps": 0}], "row 1: steps is 0"),
        ([A | {"steps": True}], "row 1: steps is true"),
        ([A, {"label": "A", "backend_config": {"x": 1}}], "row 2 has the label of row 1"),
        ([A, {"label": "b", "backend_config": {}}], "row 2 has the backend_config of row 1"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(tmp_path: Path, document: Any, says: str) -> None:
    with pytest.raises(InputError) as raised:
        read_plan(written(tmp_path, document))
    assert says in str(raised.value)
    assert str(raised.value).count("\n") <= 1


def test_an_unknown_name_is_told_the_known_ones_and_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"there is no sweep 'h100'\.\nGive cpu, h200, l4, or the path"):
        read_plan("h100")
    with pytest.raises(InputError, match=r"cannot read the sweep's settings no/where\.json"):
        read_plan("no/where.json")
