"""Reading what is linted: which files, their text, the code of notebooks, and what can be skipped."""
