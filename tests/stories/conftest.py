import pytest

from tests.api.conftest import croupier, house, http
from tests.stories.lounge import clock, lounge

__all__ = ["clock", "croupier", "house", "http", "lounge"]

pytest.register_assert_rewrite("tests.domain.books", "tests.domain.story")
