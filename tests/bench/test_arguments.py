"""Wrong flags of the commands that read them by argparse."""

from collections.abc import Callable

import pytest

from bench.doctor.main import main as doctor
from bench.scale.main import main as scale
from bench.sweep.main import main as sweep


@pytest.mark.parametrize(
    ("main", "arguments", "says"),
    [
        (sweep, [], "the following arguments are required: settings"),
        (sweep, ["l4", "--steps", "many"], "argument --steps: invalid number from 1 value: 'many'"),
        (sweep, ["l4", "--memory-limit-gb", "20"], "unrecognized arguments: --memory-limit-gb 20"),
        (scale, ["--gpu\nover two lines"], "unrecognized arguments: --gpu over two lines"),
        (doctor, ["--json=yes"], "argument --json: ignored explicit argument 'yes'"),
    ],
)
def test_they_are_two_lines_without_the_usage_and_end_with_2(
    main: Callable[[list[str]], int], arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.splitlines() == [f"bench: {says}.", f"See python3 -m bench {main.__module__.split('.')[1]} --help."]


def test_an_error_does_not_fill_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        sweep(["l4", "--what-" + "x" * 10_000])
    assert len(capsys.readouterr().err) < 500
