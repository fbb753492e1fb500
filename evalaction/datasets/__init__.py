"""Files to suites: the native YAML with positions, and the foreign datasets; every fault of every file is reported at once."""
