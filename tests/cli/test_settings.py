"""Settings: what is accepted, and how a wrong value is answered."""

from pathlib import Path

import pytest

from services.settings import SeedKey, Settings, WrongSettings, variable

KEY = "a" * 42 + "E"  # 43 characters of base64url are 32 bytes.


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for field in Settings.model_fields:
        monkeypatch.delenv(variable(field), raising=False)
        monkeypatch.delenv(f"{variable(field)}_FILE", raising=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CROUPIER_PORT", "eighty"),
        ("CROUPIER_PORT", "0"),
        ("CROUPIER_PORT", "tcp://10.0.0.1:8000"),
        ("CROUPIER_HOUSE", "No Spaces"),
        ("CROUPIER_SEED_KEYS", "justakey"),
        ("CROUPIER_SEED_KEYS", "one:dG9vIHNob3J0"),
        ("CROUPIER_SEED_KEYS", f":{KEY}"),
        ("CROUPIER_SEED_KEYS", f"one:{KEY},one:{KEY}"),
        ("CROUPIER_FAILED_KEYS", "many"),
        ("CROUPIER_FAILED_KEYS", "0/s"),
        ("CROUPIER_MIGRATION_URL", "sqlite://"),
        ("DATABASE_URL", "mysql://user:secret@host/db"),
        ("REDIS_URL", "http://localhost"),
    ],
)
def test_a_wrong_value_is_answered_with_the_variable_and_what_it_accepts(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(WrongSettings) as refused:
        Settings.from_environment()

    message = str(refused.value)
    assert message.startswith(f"{name} has a value that cannot be used. It is the ")
    assert value not in message


@pytest.mark.parametrize(
    "proxies", ["*", "10.0.0.1,*", "proxy.internal", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1;::1"]
)
def test_a_proxy_is_an_address_or_a_network(proxies: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a name nobody would be believed, and of all anybody: who tries keys says who he is."""
    monkeypatch.setenv("CROUPIER_PROXIES", proxies)

    with pytest.raises(WrongSettings, match=r"CROUPIER_PROXIES has a value .* as 10\.0\.0\.0/8,"):
        Settings.from_environment()


def test_proxies_are_named_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROUPIER_PROXIES", "10.0.0.1, 192.168.0.0/16,fd00::/8,")

    assert Settings.from_environment().proxies == "10.0.0.1,192.168.0.0/16,fd00::/8"


@pytest.mark.parametrize("address", ["http://id.example/keys", "http://127.0.0.1.evil/", "ftp://x"])
def test_keys_of_an_identity_provider_come_by_https(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another machine anybody between could say what they are."""
    monkeypatch.setenv("CROUPIER_JWT_JWKS_URL", address)

    with pytest.raises(WrongSettings, match="CROUPIER_JWT_JWKS_URL has a value"):
        Settings.from_environment()


def test_an_identity_provider_is_named_wholly_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CROUPIER_JWT_ISSUER", "https://id.example")
    monkeypatch.setenv("CROUPIER_JWT_JWKS_URL", "https://id.example/keys")

    with pytest.raises(WrongSettings, match=r"CROUPIER_JWT_AUDIENCE and .* all three or none"):
        Settings.from_environment()


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me@here/it")
    monkeypatch.setenv("CROUPIER_SEED_KEYS", f"new:{KEY},old:{KEY}")
    monkeypatch.setenv("CROUPIER_PORT", "")

    settings = Settings.from_environment()

    assert settings.database_url == settings.owner_url == "postgresql://me@here/it"
    assert [key.id for key in settings.seed_keys] == ["new", "old"]
    assert settings.port == 8000


def test_secrets_are_not_shown() -> None:
    settings = Settings(seed_keys=(SeedKey("one", b"k" * 32),))

    assert "kkk" not in repr(settings)


def test_every_setting_says_what_it_means() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_what_is_secret_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("DATABASE_URL", "postgresql://me@file/it"), ("SEED", f"new:{KEY}")):
        (tmp_path / name).write_text(f"{value}\n")
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "DATABASE_URL"))
    monkeypatch.setenv("CROUPIER_SEED_KEYS_FILE", str(tmp_path / "SEED"))

    settings = Settings.from_environment()

    assert settings.database_url == "postgresql://me@file/it"
    assert [key.id for key in settings.seed_keys] == ["new"]


def test_a_variable_comes_before_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://me@file/it")
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "url"))
    monkeypatch.setenv("DATABASE_URL", "postgresql://me@here/it")

    assert Settings.from_environment().database_url == "postgresql://me@here/it"


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (None, "CROUPIER_SEED_KEYS_FILE names a file that cannot be read."),
        ("justakey", "CROUPIER_SEED_KEYS has a value that cannot be used. It is the "),
    ],
)
def test_a_wrong_file_is_answered_with_the_variable(
    content: str | None, answer: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if content:
        (tmp_path / "keys").write_text(content)
    monkeypatch.setenv("CROUPIER_SEED_KEYS_FILE", str(tmp_path / "keys"))

    with pytest.raises(WrongSettings) as refused:
        Settings.from_environment()

    assert str(refused.value).startswith(answer)
