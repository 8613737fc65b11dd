"""The reader: what it takes from each kind of file, and what it says of files that are none."""

import json
import statistics

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plots import checked
from plots.errors import PlotInputError
from plots.results import read_result
from tests.plots.cases import PATHS, stored


def test_the_published_file_is_read_with_its_own_numbers(published, written):
    result = read_result(written(published))
    assert (result.schema, result.partial, result.comparisons, result.cautions) == (0, False, (), ())
    native, custom = result.paths
    assert (native.name, native.mean_s, native.stdev_s, native.tokens_per_s) == ("native_1pass", 12.915, 0.229, 586.0)
    assert (custom.name, custom.mean_s, custom.stdev_s, custom.tokens_per_s) == ("custom_2pass", 16.771, 0.458, 451.3)
    assert (result.step_time_reduction_pct, result.throughput_gain_pct) == (23.0, 29.8)
    assert result.setting.model == "Qwen/Qwen3-4B-Instruct-2507"
    assert (result.setting.sequences, result.setting.tokens_per_step) == (16, 7569)


def test_the_stored_published_times_have_the_published_mean_and_deviation(published):
    for path, mean, stdev in (("native_1pass", 12.915, 0.229), ("custom_2pass", 16.771, 0.458)):
        times = published[path]["times"]
        assert len(times) == 8
        assert round(statistics.mean(times), 3) == mean
        assert round(statistics.stdev(times), 3) == stdev


def test_our_file_is_read_with_its_comparisons_warnings_and_setting(schema1, written):
    result = read_result(written(schema1))
    assert tuple(path.name for path in result.paths) == PATHS
    first = result.comparisons[0]
    stored_first = schema1["comparisons"][0]
    assert (first.baseline, first.candidate) == ("custom_2pass", "native_1pass")
    assert first.interval == (stored_first["ci_low_pct"], stored_first["ci_high_pct"])
    assert (first.pairs, first.faster_in, first.ci_level) == (8, 8, 0.95)
    assert [made.code for made in result.cautions] == ["POLLING_FLOOR"]
    setting = result.setting
    assert (setting.gpus, setting.cpu, setting.cpu_count) == ((), "AMD EPYC 7B13", 4)
    assert (setting.weights, setting.backend) == ("random", "jax")
    assert (setting.order, setting.mode) == ("interleaved", "pipelined")


@pytest.mark.parametrize("key", sorted(set(stored("schema1")) - set(PATHS) - {"schema"}))
@pytest.mark.parametrize("missing", ["left out", "null"])
def test_every_part_but_the_paths_may_be_missing(schema1, written, key, missing):
    if missing == "left out":
        del schema1[key]
    else:
        schema1[key] = None
    assert len(read_result(written(schema1)).paths) == 4


def test_a_path_without_a_mean_gets_it_from_its_times(written):
    assert read_result(written({"native_1pass": {"times": [1.0, 2.0, 6.0]}})).paths[0].mean_s == 3.0


def test_a_path_without_a_timed_step_is_left_out(schema1, written):
    schema1["custom_2pass"] = {"mean_s": None, "stdev_s": None, "times": []}
    assert read_result(written(schema1)).path("custom_2pass") is None


def test_texts_are_kept_on_one_line_without_control_characters(schema1, written):
    schema1["summary"]["model"] = "a\n\tb\u0000c\u202ed\ud800e"
    assert read_result(written(schema1)).setting.model == "a b c d e"


def changed(*keys, value):
    """Return the stored file of schema 1 with one value replaced."""
    document = stored("schema1")
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(document).encode()


REFUSED = {
    "empty": (b"", "is not JSON"),
    "no JSON": (b"hello", "is not JSON"),
    "a cut file": (json.dumps(stored("schema1")).encode()[:900], "is not JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "is not JSON"),
    "binary": (bytes(range(256)), "is not JSON"),
    "deep": (b'{"a":' + b"[" * 200_000, "nested too deep"),
    "many digits": (b'{"native_1pass": {"mean_s": 1' + b"0" * 5000 + b"}}", "is not JSON"),
    "a list": (b"[1, 2]", "holds a list, not an object"),
    "a number": (b"3", "holds 3, not an object"),
    "null": (b"null", "holds null, not an object"),
    "no path": (b'{"loss": 1.0}', "has no timed path (one of native_1pass, custom_2pass"),
    "an empty object": (b"{}", "has no timed path"),
    "NaN": (b'{"native_1pass": {"mean_s": NaN}}', "NaN is not a number"),
    "Infinity": (b'{"native_1pass": {"mean_s": -Infinity}}', "-Infinity is not a number"),
    "an overflow": (b'{"native_1pass": {"mean_s": 1e999}}', "native_1pass.mean_s holds infinite"),
    "a newer schema": (changed("schema", value=2), "has schema 2, this program reads up to 1"),
    "a schema in words": (changed("schema", value="1"), 'schema is "1", expected a whole number'),
    "a schema of true": (changed("schema", value=True), "schema is true, expected a whole number"),
    "schema 0": (changed("schema", value=0), "schema is 0, expected a whole number from 1"),
    "a null schema": (changed("schema", value=None), "schema is null, expected a whole number from 1"),
    "another kind": (changed("kind", value="learning"), 'kind is "learning", expected gspo-bench'),
    "another status": (changed("status", value="done"), 'status is "done", expected complete or partial'),
    "a mean in words": (changed("native_1pass", "mean_s", value="fast"), 'native_1pass.mean_s holds "fast"'),
    "a mean of true": (changed("native_1pass", "mean_s", value=True), "native_1pass.mean_s holds true"),
    "a mean of 0": (changed("native_1pass", "mean_s", value=0), "native_1pass.mean_s holds 0, expected a number from"),
    "a negative deviation": (changed("native_1pass", "stdev_s", value=-1.5), "native_1pass.stdev_s holds -1.5"),
    "a negative time": (changed("custom_2pass", "times", 0, value=-2), "custom_2pass.times holds -2"),
    "a null time": (changed("custom_2pass", "times", 0, value=None), "custom_2pass.times holds null"),
    "times in words": (changed("custom_2pass", "times", value="1, 2"), "custom_2pass.times is"),
    "a path as a list": (changed("sdk_custom", value=[1]), "sdk_custom is a list, expected an object"),
    "a model as a number": (changed("summary", "model", value=4), "summary.model is 4, expected a text"),
    "half a sequence": (changed("summary", "batch_seqs", value=1.5), "summary.batch_seqs is 1.5"),
    "comparisons as an object": (changed("comparisons", value={}), "comparisons is an object, expected a list"),
    "a comparison of nothing": (changed("comparisons", 0, "baseline", value=None), "comparisons[0].baseline is null"),
    "weights of a third sort": (
        changed("environment", "server", "weights", value="warm"),
        'environment.server.weights is "warm", expected random or pretrained or arithmetic',
    ),
    "notes as a text": (changed("environment", "server", "notes", value="x"), "environment.server.notes is"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_result_is_refused_in_one_line_with_its_name(written, name):
    content, says = REFUSED[name]
    path = written(content)
    with pytest.raises(PlotInputError) as caught:
        read_result(path)
    message = str(caught.value)
    assert says in message
    assert message.startswith(str(path))
    assert "\n" not in message
    assert "; " in message  # what is wrong; what to do


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(PlotInputError, match="does not exist"):
        read_result(tmp_path / "no.json")
    with pytest.raises(PlotInputError, match="is not a regular file"):
        read_result(tmp_path)
    with pytest.raises(PlotInputError, match=r"cannot be read|does not exist"):
        read_result(tmp_path / "nul\0byte")
    with pytest.raises(PlotInputError, match=r"cannot be read|does not exist"):
        read_result(tmp_path / ("x" * 5000))


def test_a_file_past_the_largest_size_is_refused_unread(tmp_path):
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(checked.LARGEST_FILE_BYTES + 1)  # sparse: takes no room
    with pytest.raises(PlotInputError, match="has 67,108,865 bytes"):
        read_result(path)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["times", "mean_s", "a"]), inner),
    max_leaves=12,
)
fresh = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


@fresh
@given(document=st.dictionaries(st.sampled_from([*PATHS, "schema", "summary", "comparisons", "status"]), anything))
def test_random_objects_raise_nothing_but_input_errors(written, document):
    try:
        read_result(written(document))
    except PlotInputError as error:
        assert "\n" not in str(error)


@fresh
@given(content=st.binary(max_size=200))
def test_random_bytes_are_always_refused(written, content):
    with pytest.raises(PlotInputError):
        read_result(written(content))


def test_a_key_with_control_characters_does_not_reach_a_message():
    section = checked.Section("f.json", "", {"a\x1b[2J": "x", "b\x00": 3})
    for read in (lambda: section.number("a\x1b[2J"), lambda: section.section("b\x00"), lambda: section.text("b\x00")):
        with pytest.raises(PlotInputError) as raised:
            read()
        assert str(raised.value).isprintable()
