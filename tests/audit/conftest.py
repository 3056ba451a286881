import pytest

pytest.register_assert_rewrite("tests.domain.books", "tests.domain.story")
