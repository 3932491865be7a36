"""Linting and fixing: one file, and many."""
