"""An identity provider on this machine: signs tokens, publishes its keys, rotates them, goes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import sleep, time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from jwt.algorithms import get_default_algorithms

ISSUER, AUDIENCE = "https://id.example", "croupier"
RSA, WEAK_RSA = generate_rsa(65537, 2048), generate_rsa(65537, 1024)


class Provider:
    """`published` is what it says its keys are; `asked` counts how often that was asked."""

    def __init__(self) -> None:
        self.private: dict[str, tuple[str, Any]] = {}
        self.published: list[dict[str, Any]] = []
        self.asked = 0
        self.status = 200
        self.start, self.padding = "", ""
        self.pause_seconds = 0.0
        """Behind each byte."""
        self.url = ""

    def add(self, kid: str, algorithm: str = "ES256", key: Any = None) -> None:
        """Makes a key and publishes it."""
        key = (
            key
            or {
                "ES256": lambda: generate_private_key(SECP256R1()),
                "EdDSA": Ed25519PrivateKey.generate,
                "RS256": lambda: RSA,
                "PS256": lambda: RSA,
            }[algorithm]()
        )
        self.private[kid] = algorithm, key
        made: Any = get_default_algorithms()[algorithm]
        jwk = made.to_jwk(key.public_key(), as_dict=True)
        self.published.append(jwk | {"kid": kid, "alg": algorithm, "use": "sig"})

    def withdraw(self, kid: str) -> None:
        """It still signs with the key, but says so no longer."""
        self.published = [each for each in self.published if each["kid"] != kid]

    def token(self, kid: str = "k1", head: Any = None, **claims: Any) -> str:
        """A good token, but for what is said otherwise; a claim that is None is left out."""
        said = {
            **{"iss": ISSUER, "aud": AUDIENCE, "exp": time() + 600, "sub": "auth0|ada"},
            **{"house": "north", "scope": "openid play read"},
        }
        said = {name: value for name, value in (said | claims).items() if value is not None}
        algorithm, key = self.private[kid]
        return jwt.encode(said, key, algorithm, {"kid": kid} | (head or {}))

    @contextmanager
    def answering(self, port: int = 0) -> Iterator[None]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                self.send_response(provider.status)
                self.end_headers()
                text = provider.start + json.dumps({"keys": provider.published}) + provider.padding
                if not provider.pause_seconds:
                    self.wfile.write(text.encode())
                    return
                with suppress(OSError):  # who asked has gone
                    for byte in text.encode():
                        self.wfile.write(bytes([byte]))
                        sleep(provider.pause_seconds)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}/keys"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
