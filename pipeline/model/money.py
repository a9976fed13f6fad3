"""Money as whole minor units, and its decimal texts."""

#: One main unit of the currency in minor units: money has two decimals at most (interface.md).
MINOR = 100


def money_text(minor: int) -> str:
    """Minor units as a decimal text of the main unit.

    >>> money_text(123450)
    '1234.50'
    >>> money_text(7)
    '0.07'
    """
    main, rest = divmod(minor, MINOR)
    return f"{main}.{rest:02d}"


def money_shown(minor: int) -> str:
    """The same for people, with separators and its sign.

    >>> money_shown(123450), money_shown(-105)
    ('1,234.50', '-1.05')
    """
    main, rest = divmod(abs(minor), MINOR)
    return f"{'-' if minor < 0 else ''}{main:,}.{rest:02d}"
