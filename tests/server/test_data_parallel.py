"""A real server whose model trains on two devices (XLA's, of one processor): in input order, and the same step as on one."""

import json
import urllib.request

import pytest

from bench import outputs_order, synthetic
from bench.checks import Outcome
from bench.environment import device_count
from bench.paths import Native
from bench.probe import Probe
from bench.session import ModelRequest, open_session
from bench.wait import ResultWaiter
from tests.server.conftest import RunningServer
from tests.server.test_paths_on_server import around, gap

pytestmark = pytest.mark.server


def test_the_server_tells_its_devices_and_the_client_asks_for_the_order(server_of_two: RunningServer) -> None:
    with urllib.request.urlopen(f"{server_of_two.url}/gspo-bench/environment", timeout=10) as answer:
        told = json.load(answer)
    assert told["placement"] == {"nodes": 1, "devices_per_node": 2, "data_parallel": 2, "sampling_apart": 0}
    assert told["backend_config"]["fully_sharded_data_parallel_size"] == 2
    assert device_count(told) == 2 and outputs_order.is_worth_asking(told)


def test_outputs_of_two_devices_come_in_input_order(server_of_two: RunningServer) -> None:
    probe = Probe(server_of_two.url)
    wait = ResultWaiter(probe, 300.0, lambda text: None)
    with open_session(probe, wait, ModelRequest(None, 8, 1, False), lambda text: None) as opened:
        # 15: not a multiple of two, so that the batch is padded.
        check = outputs_order.check_outputs_order(opened.client, wait, synthetic.sequences(seed=1)[:15])
    assert check.outcome is Outcome.PASS, check.text


def test_a_step_on_two_devices_is_the_step_on_one(server: RunningServer, server_of_two: RunningServer) -> None:
    before_one, after_one, _ = around(server, Native().step)
    before_two, after_two, _ = around(server_of_two, Native().step)
    moved = gap(before_one, after_one)
    assert moved > 0.01
    assert gap(before_one, before_two) < 0.01 * moved
    assert gap(after_one, after_two) < 0.05 * moved
