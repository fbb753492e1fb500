"""The pure heart: values in, values out. No disk, network, environment, clock, log or unseeded random."""
