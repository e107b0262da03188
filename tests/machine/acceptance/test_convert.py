"""``vinculum convert`` ended from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.processes import python, started

# Whatever is compared, there is time to end the command meanwhile.
COMPARING_FOR_LONG = """
import sys, time
from vinculum.__main__ import main
from vinculum.models.convert import file_conversion
# Not one long sleep: Python does not look for a signal that comes just before it begins one.
file_conversion.verify = lambda *models, **options: [time.sleep(0.01) for _ in range(60_000)]
sys.exit(main())
"""


class TestSignals:
    """Whoever ends the command finds nothing of what was begun."""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
    def test_nothing_is_left(
        self, environment: dict[str, str], examples: Path, tmp_path: Path, number: signal.Signals
    ) -> None:
        source = examples / "attention/model.onnx"
        command = [*python(COMPARING_FOR_LONG), "convert", str(source), "--opset", "21", "-o", "new.onnx"]
        pipe = subprocess.PIPE
        with started(command, stdout=pipe, stderr=pipe, env=environment, cwd=tmp_path) as process:
            while process.poll() is None and not any("new.onnx" in files for *_, files in os.walk(tmp_path)):
                time.sleep(0.01)
            process.send_signal(number)
            _, complaints = process.communicate()
        assert (process.returncode, complaints) == (128 + number, b"vinculum: interrupted\n")
        assert list(tmp_path.iterdir()) == []
