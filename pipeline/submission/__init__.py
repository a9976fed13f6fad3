"""Requests sent to the carrier: a batch judged, split, claimed, sent, and each outcome recorded."""
