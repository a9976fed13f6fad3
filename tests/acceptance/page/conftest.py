"""A browser for whoever looks at a served page."""

import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.acceptance.page.browser import CHROMIUM, DRIVER, Window, window

Browsing = Callable[..., AbstractContextManager[Window]]


@pytest.fixture
def browsing(tmp_path: Path, needs_tool: Callable[[str, object], None]) -> Browsing:
    """`browsing(address, lang=…, script=…)`: a browser of its own, while the context lasts. Pictures go where VOUCHER_SCREENSHOTS says."""
    needs_tool("Chromium (chromium)", shutil.which(CHROMIUM))
    needs_tool("Chromium's driver (chromedriver)", shutil.which(DRIVER))
    shots = Path(kept) if (kept := os.environ.get("VOUCHER_SCREENSHOTS")) else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    return partial(window, folder=tmp_path, shots=shots)
