"""What seals and proofs look like, for the API's description; made with keys of bytes 0, 1, 2, …"""

from typing import Any, Final

_ROOT: Final = "acfca191dcca991f54c07c54700b28ac8625e74614b2dadb96e7ae94694bedc8"
_ABOVE: Final = [
    "906c5d2485cae722073a430f4d04fe1767507592cef226629aeadb85a2ec909d",
    "cb00989d94a569c0a678ae042b63dcd4625db96440517f37a6eb7976ea24ed4b",
    "31f2973ab63e19375dfe0d165a92ebd9a13d28b5e6fc78072c4068bd7bbfbc37",
    "404f01deabfce702b8bdc982374a9b5e3796e49c3c8461411e4dd1dcccd7385b",
]
_LEAF: Final = "fa61e3dec3439589f4784c893bf321d0084f04c572c7af2b68e3f3360a35b486"
_KEY: Final = "croupier.example/local+b082a1fe+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
_WITNESS: Final = "witness.example/w1+e42b2f2c+BDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
COSIGNATURE: Final = (
    "— witness.example/w1 5CsvLAAAAABpVbkAkWnAvYBfk2UCnuJOhtmDeSqliLO6hr43E1b2TEvroEz/LlLCjW2fOiHy"
    "fnnQtaNql5j9O42HZ+RNRaTrkHJbAQ=="
)
_NOTE: Final = (
    "croupier.example/local\n16\nrPyhkdzKmR9UwHxUcAsorIYl50YUstrblueulGlL7cg=\n\n"
    "— croupier.example/local sIKh/qtl8nf3l6mRIYxGTKumdr8CCFCtdS3tr9iTZIlMSrvhTfZHFVuizKfg7fLq9Wrh"
    f"/b2psvisFxNHvNhhtRAt3w4=\n{COSIGNATURE}\n"
)
SEAL: Final[dict[str, Any]] = {
    "size": 16,
    "root": _ROOT,
    "note": _NOTE,
    "witnesses": ["witness.example/w1"],
    "sealed_at": "2026-01-01T00:00:00Z",
}
SEALS: Final[dict[str, Any]] = {"data": [SEAL], "next": None}
INCLUSION: Final[dict[str, Any]] = {
    "position": 3,
    "size": 16,
    "leaf": _LEAF,
    "hashes": _ABOVE,
    "root": _ROOT,
}
CONSISTENCY: Final[dict[str, Any]] = {
    "old_size": 3,
    "new_size": 16,
    "old_root": "725d5230db68f557470dc35f1d8865813acd7ebb07ad152774141decbae71327",
    "hashes": [_LEAF, *_ABOVE],
    "new_root": _ROOT,
}
KEYS: Final[dict[str, Any]] = {
    "data": [{"public_key": _KEY, "first_size": 16}],
    "witnesses": [_WITNESS],
}
STATUS: Final[dict[str, Any]] = {
    "position": 18,
    "verified_position": 16,
    "sealed_at": "2026-01-01T00:00:00Z",
    "seal_age_seconds": 12.5,
    "faults": 0,
}
