"""Which rules are installed, which are on, and which events they watch."""
