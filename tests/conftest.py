"""What all tests share."""

from hypothesis import settings

# A busy machine must not fail a property: how long one example takes says nothing about it.
# Fifty examples find what a hundred do in the small worlds that the properties draw; `--hypothesis-profile thorough` looks longer.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")
