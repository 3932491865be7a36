"""What values, places, events and summaries are: plain data and joins, without syntax and without I/O."""
