"""The carrier's written interface, whole, in one room.

`documents` (what is asked and answered), `crypto` (how it is sealed) and `replies` (what an answer
means) are values in, values out; `client` is the socket (`connection_reuse`, `connection_check`). The source of all of it is
carrier-interface.md.
"""
