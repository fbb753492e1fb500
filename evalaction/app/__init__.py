"""The uses of the program: one short function each, with every part passed in."""
