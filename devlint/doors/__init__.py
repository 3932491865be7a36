"""Other programs that devlint works inside of."""
