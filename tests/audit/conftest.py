import pytest

from tests.api.conftest import croupier, house, http, other_house

__all__ = ["croupier", "house", "http", "other_house"]

pytest.register_assert_rewrite("tests.domain.books", "tests.domain.story")
