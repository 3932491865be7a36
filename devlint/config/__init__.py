"""What a run is asked to do: files, flags and their defaults."""
