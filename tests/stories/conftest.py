from tests.api.conftest import croupier, house, http
from tests.stories.lounge import clock, lounge

__all__ = ["clock", "croupier", "house", "http", "lounge"]
