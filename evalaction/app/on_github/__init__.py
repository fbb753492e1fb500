"""The modes of the Action: the same uses as on the command line, with baselines from artifacts and the verdict shown on GitHub."""
