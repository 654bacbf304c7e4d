"""Fixtures of the core's tests."""

import pytest
from private_bench import Bench


@pytest.fixture
def bench():
    return Bench()
