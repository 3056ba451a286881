-- Who may call. A key is `ck_<prefix>_<secret>`: the prefix is public and finds the row, of the
-- secret only the SHA-256 is kept. It is 256 random bits, so no salt and no slow hash is needed.
CREATE TABLE api_key (
    house       text        NOT NULL,
    prefix      text        NOT NULL,
    name        text        NOT NULL,
    secret_hash bytea       NOT NULL CHECK (length(secret_hash) = 32),
    scopes      text[]      NOT NULL CHECK (
        cardinality(scopes) > 0
        AND scopes <@ ARRAY['play', 'read', 'ledger', 'audit', 'ops']),
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz,
    revoked_at  timestamptz,
    PRIMARY KEY (house, prefix)
);

-- A caller does not say which house it belongs to: its key says so. Over many nodes this table is
-- small enough to be on each of them.
CREATE INDEX api_key_prefix ON api_key (prefix);

-- Who serves can look, and can neither make a key nor bring a revoked one back.
GRANT SELECT ON api_key TO croupier_app;

-- It also has to see whether the database is as new as the program.
GRANT SELECT ON alembic_version TO croupier_app;
