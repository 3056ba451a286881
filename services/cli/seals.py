"""The keys that seal the log: made here, read by workers alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from typer import Option, Typer

from services.cli.refused import Refused
from services.settings import Settings
from shared.seals import keyfile
from shared.seals.keyfile import BadKeyFile
from shared.seals.notes import public_of

app = Typer(no_args_is_help=True, help="The keys that seal the log, for those who check it.")


@app.command()
def key() -> None:
    """Make the key that seals, in the file of CROUPIER_SEAL_KEY, and print its public key."""
    file = _file(Settings.from_environment())
    if file.exists():
        raise Refused(f"{file} is there already; `croupier seals rotate` puts a new key in it.")
    _changed(keyfile.add_key)


@app.command()
def rotate() -> None:
    """Put a new key first in the file. Until `retire`, seals are signed by it and those before it.

    Tell the new public key to all who check seals, then retire the old ones.
    """
    file = _file(Settings.from_environment())
    if not file.exists():
        raise Refused(f"There is no {file}; `croupier seals key` makes it.")
    _changed(keyfile.add_key)


@app.command()
def retire() -> None:
    """Seal with the newest key alone. Old seals stay good for those who kept the old public key."""
    _changed(keyfile.retire_keys)


@app.command()
def public(
    house: Annotated[str, Option(help="Whose seals are meant; else CROUPIER_HOUSE.")] = "",
) -> None:
    """Print the public keys of the file, the newest first, as `croupier verify` takes them."""
    settings = Settings.from_environment()
    try:
        keys = keyfile.read_keys(_file(settings))
    except BadKeyFile as bad:
        raise Refused(str(bad)) from None
    _show(keys, settings, house or settings.house)


def _changed(change: Callable[[Path], list[Ed25519PrivateKey]]) -> None:
    """Does something to the file, and prints the public keys that it has then."""
    settings = Settings.from_environment()
    try:
        keys = change(_file(settings))
    except BadKeyFile as bad:
        raise Refused(str(bad)) from None
    _show(keys, settings, settings.house)


def _show(keys: list[Ed25519PrivateKey], settings: Settings, house: str) -> None:
    for each in keys:
        print(public_of(each, f"{settings.seal_origin}/{house}"))


def _file(settings: Settings) -> Path:
    if settings.seal_key is None:
        raise Refused("Set CROUPIER_SEAL_KEY to the file of the key that seals the log.")
    return settings.seal_key
