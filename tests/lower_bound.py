"""The fewest invoices that any packing could do with: what the one of `pipeline.splitting` is measured against."""

from collections.abc import Sequence

#: How finely `lower_bound` looks at the amounts: by halves, thirds and so on, up to these parts of the limit.
_FINEST = 21


def lower_bound(amounts: Sequence[int], limit: int, most: int) -> int:
    """No packing has fewer bins: by the sum, by the count, and by the parts of a bin that amounts take up.

    Of amounts that are more than a half of the limit a bin holds one, of those that are more than a third two, and so
    on: an amount of more than n parts in k + 1 takes up n parts in k, whatever else it leaves room for (a dual feasible
    function: Fekete and Schepers, New classes of fast lower bounds for bin packing problems, 2001).

    >>> lower_bound([60, 60, 60], 100, 0), lower_bound([40, 40, 40, 40, 40], 100, 0)
    (3, 3)
    """
    by_sum = -(-sum(amounts) // limit)
    by_count = -(-len(amounts) // most) if most else 0
    by_parts = (
        -(-sum(_taken_up(amount, limit, parts) for amount in amounts) // (parts * limit))
        for parts in range(1, _FINEST)
    )
    return max(by_sum, by_count, *by_parts)


def _taken_up(amount: int, limit: int, parts: int) -> int:
    """What an amount takes up of a bin of `parts` times the limit, where it counts by parts of a bin."""
    whole, rest = divmod(amount * (parts + 1), limit)
    return whole * limit if rest else amount * parts
