"""Other files of the project: where the modules are that a file imports, and what they define."""
