"""What is old: by a baseline, by git; how a finding is known again."""
