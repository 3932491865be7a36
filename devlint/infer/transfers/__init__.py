"""What calls do that the columns of a row of knowledge cannot say: one function each, named by the row."""
