"""Findings, reasons and notes in words: what a code and its facts say, in English and in Chinese."""
