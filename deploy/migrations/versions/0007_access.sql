-- How often a key may ask: `quota` requests in `quota_seconds`; without them what is set for all.
ALTER TABLE api_key
    ADD COLUMN quota         integer CHECK (quota > 0),
    ADD COLUMN quota_seconds integer CHECK (quota_seconds > 0),
    ADD CONSTRAINT api_key_quota CHECK ((quota IS NULL) = (quota_seconds IS NULL));

-- When a key was used last, to a minute: whoever rotates it sees whether the old one still is.
-- A table of its own, because who serves may write here and must not write there.
CREATE TABLE api_key_use (
    house   text COLLATE "C" NOT NULL,
    prefix  text COLLATE "C" NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (house, prefix)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE ON api_key_use TO croupier_app;
