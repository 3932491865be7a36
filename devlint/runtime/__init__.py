"""The runtime checker: proves with torch, the only part of devlint that imports it, what the rules claim."""
