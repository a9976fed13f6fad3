"""The sandbox carrier: the issuing service itself, on loopback.

It is written from carrier-interface.md alone, as if the carrier had written it, and shares nothing
with the pipeline's rules and documents, so that each side judges the other.

    carrier_settings  what the interface leaves open, and the carrier's secrets
    sold_tickets      the tickets that the carrier has sold, read from workbooks
    wire_documents    the requests it understands and the results it answers with
    preconditions     what it refuses
    issued_vouchers   what it has issued, and its statement
    envelopes         the envelope
    fault_file        how it may be told to misbehave; `fault_answers` does it
    endpoints         the two operations over HTTP
    server            where and how long it listens
"""
