"""One file per rule; installed as `devlint.rules` and found through the entry point, never by name."""
