"""Systems under test: commands, HTTP endpoints, functions, files of answers."""
