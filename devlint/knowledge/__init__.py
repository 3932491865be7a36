"""What devlint knows of torch and its neighbours, as data: the names that create, move, keep or combine."""
