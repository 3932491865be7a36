"""A rehearsal: a program is gone through from where it starts, with values that say where they are.

The inference looks at each function for all of its callers; a rehearsal follows one program through its
calls, objects and files, as it would run where there is an accelerator. What it cannot tell is unknown.
"""
