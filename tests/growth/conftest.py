from tests.eventstore.conftest import postgres, store

__all__ = ["postgres", "store"]
