"""What the tests of the image and of whole workflows share."""

import pytest

from tests.action.engine import Unavailable, built
from tests.github.fake import serving


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image of this checkout, by its id: another build takes the tag away and not the image."""
    try:
        return built(tmp_path_factory.mktemp("podman"))
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def gh():
    """A fake GitHub."""
    with serving() as fake:
        yield fake
