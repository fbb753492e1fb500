"""Speed and memory of the command line, beside plain scripts that do the same work in the same run: `make bench`."""
