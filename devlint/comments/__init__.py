"""Comments that silence findings: read, judged, written."""
