"""The language server: what editors show while a program is written."""
