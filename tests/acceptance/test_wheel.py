"""The package as it is installed: a wheel in a virtual environment of its own has the handbook and the words of every language.

Seen to catch: pages that the build leaves out, catalogues that nobody compiled.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.handbook import TOPICS, page
from pipeline.model.columns import LANGS

REPOSITORY = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def run(*command: str | Path, **environment: str) -> str:
    return subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | environment, check=True, capture_output=True, encoding="utf-8",
        timeout=300,
    ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, needs_tool: Callable[[str, object], None]) -> Path:
    """The command of a wheel that was built from here and installed elsewhere."""
    needs_tool("hatchling", importlib.util.find_spec("hatchling"))
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "fresh", with_pip=False)
    scripts = folder / "fresh" / "bin"
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        scripts / "python",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
    )
    run(*pip, wheel)
    return scripts / "voucher"


def test_every_page_is_shown_by_what_is_installed(installed: Path) -> None:
    # What it depends on is what the tests have; the package itself is not found there, where it is linked to its source.
    libraries = {"PYTHONPATH": sysconfig.get_path("purelib")}
    where = run(
        installed.parent / "python", "-P", "-c", "import pipeline; print(pipeline.__file__)", **libraries
    )
    assert Path(where.strip()).is_relative_to(installed.parents[1])
    for lang in LANGS:
        for topic in TOPICS:
            assert run(installed, "help", topic, "--lang", lang, **libraries) == page(topic, lang)


def test_what_is_installed_speaks_chinese(installed: Path) -> None:
    said = run(installed, "issue", "--help", "--lang", "zh", PYTHONPATH=sysconfig.get_path("purelib"))
    assert "示例：voucher issue" in said


def test_what_is_installed_has_the_page_s_files_and_its_sample_month(installed: Path) -> None:
    said = run(
        installed.parent / "python", "-P", "-c",
        "from pipeline.page import demonstration, html; html.environment().get_template('month.html');"
        " print(len(html.static_text('page.css')) > 0, demonstration.profile().is_file(), *sorted("
        "one.name for one in demonstration.sample_data().iterdir()))",
        PYTHONPATH=sysconfig.get_path("purelib"),
    )  # fmt: skip
    assert said.split() == ["True", "True", "sandbox.toml", "tickets-2026-10-zh.xlsx", "tickets-2026-10.xlsx"]
