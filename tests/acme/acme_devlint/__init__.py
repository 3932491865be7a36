"""Acme's own rules for devlint."""
