"""Every setting, with its default and its meaning. They come from the environment alone.

All have the prefix `CROUPIER_` but two, whose names are what every platform calls them:
`DATABASE_URL` and `REDIS_URL`. What is secret may be in a file instead, which is how the engines of
containers hand secrets out: `DATABASE_URL_FILE` and the like name it.
"""

import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from shared.http.quotas import Quota
from shared.kernel.ids import ID_PATTERN
from shared.seals.notes import BadNote, PublicKey

_SEED_KEY_BYTES = 32


class WrongSettings(Exception):
    """The environment cannot be used. The message names each variable and what it accepts."""


class SeedKey(NamedTuple):
    """A key that seals the seeds of shoes; every seal names the id of its key."""

    id: str
    key: bytes


def parse_seed_keys(text: object) -> object:
    """`id:base64url-of-32-bytes,…` → a tuple of `SeedKey`. Raises `ValueError`."""
    if not isinstance(text, str):
        return text
    keys = []
    for part in filter(None, text.strip().split(",")):
        name, _, encoded = part.strip().partition(":")
        key = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        if not name or len(key) != _SEED_KEY_BYTES:
            raise ValueError(f"not id:key with a key of {_SEED_KEY_BYTES} bytes")
        keys.append(SeedKey(name, key))
    if len({key.id for key in keys}) < len(keys):
        raise ValueError("two keys have the same id")
    return tuple(keys)


def fresh_seed_key(name: str) -> str:
    """A new key with this id, as `parse_seed_keys` reads it."""
    return f"{name}:{urlsafe_b64encode(secrets.token_bytes(_SEED_KEY_BYTES)).decode()}"


def parse_quota(text: object) -> object:
    """`100/s`, `6000/m` or `10000/h` → a `Quota`. Raises `ValueError`."""
    return Quota.read(text) if isinstance(text, str) else text


def parse_witnesses(text: object) -> object:
    """`name+id+key,…` → a tuple of them. Raises `ValueError`."""
    if not isinstance(text, str):
        return text
    try:
        return tuple(str(PublicKey.read(each)) for each in filter(None, text.split(",")))
    except BadNote as bad:
        raise ValueError(str(bad)) from None


def parse_proxies(text: object) -> object:
    """`10.0.0.1,fd00::/8` → the same. Raises `ValueError` for what is no address and no network."""
    if not isinstance(text, str):
        return text
    proxies = [each.strip() for each in text.split(",") if each.strip()]
    for each in proxies:
        ip_network(each)
    return ",".join(proxies)


_Quota: TypeAlias = Annotated[Quota, NoDecode, BeforeValidator(parse_quota)]
_PostgresUrl = Annotated[str, Field(pattern="^(postgres(ql)?://.+)?$")]


class Settings(BaseSettings):
    """What the process is told when it starts. It never changes afterwards."""

    model_config = SettingsConfigDict(
        env_prefix="CROUPIER_", env_ignore_empty=True, frozen=True, validate_by_name=True
    )

    database_url: _PostgresUrl = Field(
        default="",
        repr=False,
        validation_alias="DATABASE_URL",
        description="the Postgres that serves, as postgresql://user:password@host:port/database; "
        "without it `croupier up` starts one of its own",
    )
    migration_url: _PostgresUrl = Field(
        default="",
        repr=False,
        description="the same database as a role that may create tables, as a postgresql:// URL; "
        "without it DATABASE_URL",
    )
    replica_url: _PostgresUrl = Field(
        default="",
        repr=False,
        description="a Postgres that follows the one of DATABASE_URL, as a postgresql:// URL of a "
        "role that may read; feeds, the ledger, audits and past versions are read there while it "
        "has all that is recorded",
    )
    redis_url: str = Field(
        default="",
        repr=False,
        validation_alias="REDIS_URL",
        pattern="^(rediss?://.+)?$",
        description="the Redis or Valkey, as redis://:password@host:port/number; "
        "without it `croupier up` starts one of its own and `croupier serve` does without",
    )
    home: Path = Field(
        default=Path(".croupier"),
        description="the directory for local data, keys and the embedded servers",
    )
    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(
        default=8000, ge=1, le=65535, description="the port to listen on, a number from 1 to 65535"
    )
    workers: int = Field(
        default=1, ge=1, le=256, description="how many processes serve, a number from 1 to 256"
    )
    command_seconds: float = Field(
        default=5.0,
        gt=0,
        description="how many seconds a command may wait before its caller is told to come back",
    )
    most_commands: int = Field(
        default=4096,
        ge=1,
        description="how many commands may be under way in one process; more are told to come back",
    )
    request_seconds: float = Field(
        default=10.0,
        gt=0,
        description="how many seconds a client may take to send a request, head and body each",
    )
    drain_seconds: float = Field(
        default=1.0,
        ge=0,
        description="how many seconds a process that was told to stop still serves whoever comes, "
        "while whoever balances the load notices; every answer asks its client to go elsewhere",
    )
    metrics_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="the port where a worker shows its figures to Prometheus, a number from 1 to "
        "65535; without it it shows none",
    )
    log: Literal["json", "text"] | None = Field(
        default=None,
        description="how a process tells what it does, on standard error: json or text; without it "
        "text where that is a terminal, else json",
    )
    log_level: Literal["info", "warning", "error"] = Field(
        default="info",
        description="what is told at least: info, with a line for each request, warning or error",
    )
    house: str = Field(
        default="local",
        pattern=ID_PATTERN,
        description="the house that local keys belong to, 1 to 64 of a–z, 0–9, '.', '_' and '-'",
    )
    proxies: Annotated[str, BeforeValidator(parse_proxies)] = Field(
        default="",
        description="the proxies before us whose X-Forwarded-For is believed, each an address or a "
        "network and no name, such as 10.0.0.0/8,fd00::1; without it nobody's is",
    )
    rate: _Quota | None = Field(
        default=None,
        description="the requests that a key may send, as 100/s, 6000/m or 10000/h, each command "
        "counted, where `croupier keys create --rate` says nothing else; without it any number",
    )
    house_rate: _Quota | None = Field(
        default=None,
        description="the requests that all keys of a house may send together, as 1000/s; without "
        "it any number",
    )
    failed_keys: _Quota = Field(
        default=Quota(120, 60),
        description="the requests with a wrong key that an address may send before it is "
        "told to wait, as 120/m",
    )
    seed_keys: Annotated[tuple[SeedKey, ...], NoDecode, BeforeValidator(parse_seed_keys)] = Field(
        default=(),
        repr=False,
        description="the keys that seal the seeds of shoes, as id:base64url-of-32-bytes,… with "
        "the current one first; old ones stay until no round of theirs runs",
    )

    jwt_issuer: str = Field(
        default="",
        description="the `iss` of the identity provider whose tokens are taken beside API keys; "
        "without it, CROUPIER_JWT_AUDIENCE and CROUPIER_JWT_JWKS_URL, none are",
    )
    jwt_audience: str = Field(default="", description="the `aud` of tokens that are meant for us")
    jwt_jwks_url: str = Field(
        default="",
        pattern=r"^(https://.+|http://(127\.0\.0\.1|localhost|\[::1\])[:/].*|file:///.+)?$",
        description="the address of the identity provider's keys, a JWKS, as https://… or "
        "file:///…; http:// only on this machine",
    )
    jwt_house_claim: str = Field(
        default="house", min_length=1, description="the claim of a token that names its house"
    )
    jwt_scopes_claim: str = Field(
        default="scope",
        min_length=1,
        description="the claim of a token that has its scopes, as a list or with spaces between",
    )
    jwt_actor_claim: str = Field(
        default="sub",
        min_length=1,
        description="the claim of a token that events name as their actor",
    )
    seals: Path | None = Field(
        default=None,
        description="the directory where a worker keeps seals of the log, best on a disk that the "
        "database cannot reach; without it, and CROUPIER_SEAL_KEY, nothing is sealed, but by "
        "`croupier up`, which has both in its home",
    )
    seal_key: Path | None = Field(
        default=None,
        description="the file with the private key that signs seals, as `croupier seals key` makes "
        "it; only workers read it, and only they may be able to",
    )
    seal_origin: str = Field(
        default="croupier.local",
        pattern=r"^[A-Za-z0-9._/-]{1,200}$",
        description="what seals name as their origin, before the house: a domain of yours, perhaps "
        "with a path",
    )
    seal_events: int = Field(
        default=10_000, ge=1, description="after how many events a log is sealed at the latest"
    )
    seal_seconds: float = Field(
        default=60.0, ge=0, description="after how many seconds a log that went on is sealed"
    )
    witnesses: Annotated[tuple[str, ...], NoDecode, BeforeValidator(parse_witnesses)] = Field(
        default=(),
        description="the witnesses whose cosignatures are taken, as name+id+key,…, each an Ed25519 "
        "key of a signed note",
    )

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """A variable comes before its file."""
        return named["init_settings"], named["env_settings"], _Files(settings_cls)

    @classmethod
    def from_environment(cls) -> "Settings":
        """Raises `WrongSettings`."""
        try:
            settings = cls()
        except ValidationError as error:
            wrong = {str(each["loc"][0]) for each in error.errors()}
            raise WrongSettings("\n".join(map(_accepted, sorted(wrong)))) from None
        provider = settings.jwt_issuer, settings.jwt_audience, settings.jwt_jwks_url
        if any(provider) and not all(provider):
            raise WrongSettings(
                "CROUPIER_JWT_ISSUER, CROUPIER_JWT_AUDIENCE and CROUPIER_JWT_JWKS_URL are set all "
                "three or none of them."
            )
        return settings

    @property
    def owner_url(self) -> str:
        """Where migrations run and keys are made."""
        return self.migration_url or self.database_url


class _Files(PydanticBaseSettingsSource):
    """The settings that are secret, from the files that `…_FILE` names."""

    def __call__(self) -> dict[str, str]:
        found = {name: self._read(name) for name in Settings.model_fields}
        return {name: text for name, text in found.items() if text}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[str, str, bool]:
        return self._read(field_name), field_name, False

    def _read(self, field: str) -> str:
        """Raises `WrongSettings`."""
        name = f"{variable(field)}_FILE"
        file = os.environ.get(name)
        if not file or os.environ.get(variable(field)) or Settings.model_fields[field].repr:
            return ""
        try:
            return Path(file).read_text().strip()
        except (OSError, UnicodeDecodeError):
            raise WrongSettings(f"{name} names a file that cannot be read.") from None


def variable(field: str) -> str:
    """The environment variable of a field."""
    alias = Settings.model_fields[field].validation_alias
    return alias if isinstance(alias, str) else f"CROUPIER_{field}".upper()


def _accepted(location: str) -> str:
    """One sentence for a wrong value. The value is not shown: it may hold a password."""
    field = next(f for f in Settings.model_fields if location in (f, variable(f)))
    meaning = Settings.model_fields[field].description
    return f"{variable(field)} has a value that cannot be used. It is {meaning}."
