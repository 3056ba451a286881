from tests.api.conftest import http
from tests.audit.conftest import template

__all__ = ["http", "template"]
