"""What all tests share."""

from hypothesis import settings

# A busy machine must not fail a property: how long one example takes says nothing about it.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
