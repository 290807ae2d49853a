"""Running the command line inside the test process."""

from __future__ import annotations

import sys

import pytest

from arrayfold.cli import main


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of `arrayfold ARGUMENTS`; output goes to the captured streams."""
    monkeypatch.setattr(sys, "argv", ["arrayfold", *arguments])
    return main._run()
