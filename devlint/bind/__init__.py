"""Syntax to tables: names, places in the text, what becomes of a call, what is read later. No values."""
