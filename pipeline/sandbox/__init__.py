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

What is mailed of an itinerary, by a process of its own:

    itinerary         what the file says, and how its fare is divided
    ofd_file          the file, of `itinerary_page` (for people), `itinerary_xbrl` (for machines) and its seal
    seal_making       the seal, with `seal_certificates`; `der_writing` and `xml_text` write their bytes
    itinerary_mail    the mail, and the faults of its file
    mail_delivery     what is to be mailed, handed to `mail_process`, which writes it when it is due
"""
