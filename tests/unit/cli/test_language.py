"""Which language a command speaks: said on its command line, by the environment, by the locale."""

import pytest

from pipeline.cli.language import chosen
from pipeline.model.errors import InputProblem

CHINESE = {"LANG": "zh_CN.UTF-8"}


@pytest.mark.parametrize(
    ("arguments", "environment", "lang"),
    [
        ((), {}, "en"),
        ((), {"LANG": "de_DE.UTF-8"}, "en"),
        ((), CHINESE, "zh"),
        ((), {"LC_MESSAGES": "zh_TW", "LANG": "C"}, "zh"),
        ((), {**CHINESE, "LC_ALL": "C.UTF-8"}, "en"),
        ((), {**CHINESE, "LC_ALL": ""}, "zh"),
        ((), {"VOUCHER_LANG": "zh"}, "zh"),
        ((), {**CHINESE, "VOUCHER_LANG": "en"}, "en"),
        ((), {**CHINESE, "VOUCHER_LANG": ""}, "zh"),
        (("check", "--lang", "zh", "a.csv"), {"VOUCHER_LANG": "en"}, "zh"),
        (("check", "--lang=en", "a.csv"), CHINESE, "en"),
        (("--lang", "zh", "check", "--lang", "en"), {}, "en"),  # the last one counts, as to click
        (("check", "--", "--lang", "zh"), {}, "en"),
        (("check", "zh", "--lang"), {}, "en"),
        (("check", "--lang", "fr"), CHINESE, "zh"),  # refused by click, in the language that is else spoken
        (("check", "--lang", "zh", "--lang", "fr"), {}, "en"),
        (("check", "-o", "--language=zh"), {}, "en"),
    ],
)
def test_what_is_said_beats_the_environment_and_that_the_locale(
    arguments: tuple[str, ...], environment: dict[str, str], lang: str
) -> None:
    assert chosen(arguments, environment) == lang


def test_a_language_that_is_none_of_ours_is_refused_by_name() -> None:
    with pytest.raises(InputProblem, match="VOUCHER_LANG fr: is none of our languages; set it to en or zh"):
        chosen(["check"], {"VOUCHER_LANG": "fr"})
