"""Finished results of other tools, read as data: nothing is asked, run or scored."""
