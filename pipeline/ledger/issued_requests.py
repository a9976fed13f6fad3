"""The requests that were issued before, as a result shows them: with all their charges."""

import itertools
import json
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

import apsw

from pipeline.model.request import Charge, Header, Identity, Request
from pipeline.model.result_values import RequestResult

#: All charges of named attempts, those of an attempt one after the other.
_REQUESTS = """
SELECT attempt_id, attempt.attempt, attempt.run, attempt.number, attempt.trace_id, request.voucher, market,
       header_type, header_name, tax_no, phone, email, remarks, ticket_no, charge, product, passenger_name, charge.amount
FROM json_each(?) AS named
     CROSS JOIN attempt ON attempt.request_id = named.value ->> 0 AND attempt.attempt = named.value ->> 1
     CROSS JOIN request USING (request_id) CROSS JOIN charge USING (attempt_id)
ORDER BY attempt_id
"""


def issued_requests(connection: apsw.Connection, wanted: Iterable[tuple[str, int]]) -> list[RequestResult]:
    """The requests of these (request, attempt) pairs, which were issued, in the order in which they were: no rows are named."""
    rows: Iterator[Any] = connection.execute(_REQUESTS, (json.dumps([*wanted]),))
    found = []
    for _, charges in itertools.groupby(rows, itemgetter(0)):
        first, *_ = parts = [*charges]
        asked = tuple(Charge(Identity(*row[13:16]), row[16], row[17], 0, None) for row in parts)
        request = Request(first[5], first[6], Header(*first[7:13]), asked)
        found.append(
            RequestResult(request, (), first[1], "already_issued", first[3], first[4], None, first[2])
        )
    return found
