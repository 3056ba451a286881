"""Bodies of answers: JSON and pictures."""

from typing import Any

import msgspec
from fastapi import Response


class Json(Response):
    """A struct, or anything else that msgspec encodes, as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return msgspec.json.encode(content)


class Svg(Response):
    """A picture, drawn already."""

    media_type = "image/svg+xml"
