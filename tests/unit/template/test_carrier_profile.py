"""The profile to fill in holds every key, explained in both languages, and loads as it is."""

import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.messages.translate import rendered
from pipeline.model.columns import LANGS
from pipeline.model.errors import InputProblem
from pipeline.model.profile import Profile
from pipeline.profile_file import load_profile, profile_keys
from pipeline.template.carrier_profile import EXPLAINED, profile_text, write_profile


def keys_in(text: str) -> dict[str, tuple[str, ...]]:
    """The keys that a profile's text holds, by section."""
    found = {}
    for section, values in tomllib.loads(text).items():
        deeper = all(isinstance(value, Mapping) for value in values.values())
        below = (
            {f"{section}.{name}": value for name, value in values.items()} if deeper else {section: values}
        )
        found.update({name: tuple(value) for name, value in below.items()})
    return found


def test_every_key_that_a_profile_may_hold_is_in_it() -> None:
    """A key that `profile_file` takes and that nobody explained fails here."""
    known = {section: tuple(keys) for section, keys in profile_keys().items()}
    assert {section: tuple(keys) for section, (_, keys) in EXPLAINED.items()} == known
    filled = re.sub("^# ([a-z_]+ = )", r"\1", profile_text({}), flags=re.MULTILINE)
    assert keys_in(filled) == known


def test_every_key_is_explained_in_both_languages() -> None:
    lines = profile_text({}).splitlines()
    for section, (title, keys) in EXPLAINED.items():
        at = lines.index(f"[{section}]")
        assert lines[at - 2 : at] == [f"# {rendered(title, lang)}" for lang in LANGS]
        for key, meaning in keys.items():
            at = next(n for n in range(at, len(lines)) if re.match(f"(# )?{key} = ", lines[n]))
            assert lines[at - 2 : at] == [f"# {rendered(meaning, lang)}" for lang in LANGS]


def test_it_loads_as_it_is_and_says_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "carrier.toml"
    write_profile(path, {})
    assert load_profile(path) == Profile()


@pytest.mark.parametrize("code", ["FARE", r'a "b" \ c', "票价", "a # b", "[x]", r"\u0041"])
def test_what_is_answered_is_read_back(tmp_path: Path, code: str) -> None:
    answers: dict[tuple[str, str], Any] = {
        ("carrier", "base_url"): "https://carrier.example", ("carrier", "ticket_prefixes"): ["999", "784"],
        ("codes.fee_type", "ticket_fare"): code, ("reconcile", "settle_after_hours"): 48,
    }  # fmt: skip
    path = tmp_path / "carrier.toml"
    write_profile(path, answers)
    loaded = load_profile(path)
    assert loaded.carrier.base_url == "https://carrier.example"
    assert loaded.carrier.ticket_prefixes == ("999", "784")
    assert loaded.codes.fee_type == {"ticket_fare": code, "refund": "REFUND_FEE", "ancillary": ""}
    assert loaded.reconcile.settle_after_hours == 48


def test_it_is_its_owner_s_alone_and_takes_no_file_s_place(tmp_path: Path) -> None:
    path = tmp_path / "carrier.toml"
    write_profile(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("mine")
    with pytest.raises(InputProblem, match=r"carrier\.toml: exists already and is left as it is"):
        write_profile(path, {})
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
