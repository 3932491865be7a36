"""The concrete syntax around events: finds their nodes, runs the rules on them, renders their fixes."""
