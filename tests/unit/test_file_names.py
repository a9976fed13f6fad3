"""A file name stands once in the package, so that whoever looks for it finds one place."""

from collections import Counter
from pathlib import Path

import pipeline


def test_no_module_has_the_name_of_another() -> None:
    names = Counter(path.name for path in Path(pipeline.__file__).parent.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1] == ["__init__.py"]
