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

-- Which seed key the next or the running round of a table waits for; none once it is closed. It
-- changes when the ring is rotated, so the index is seldom written (HOT). Its place in the text is
-- looked for, since jsonb refuses some that JSON allows: a title with \u0000 would stop everything.
ALTER TABLE projected_table ADD COLUMN seed_key text COLLATE "C";

UPDATE projected_table t
   SET seed_key = (
       SELECT substring(convert_from(e.envelope, 'UTF8')
                        FROM '"next":\{[^{}]*"key_id":"([^"]*)"')
         FROM event_log e
        WHERE e.house = t.house AND e.stream = 'table-' || t.id AND e.version <= t.version
          AND e.type IN ('blackjack.table_opened', 'blackjack.seed_revealed')
        ORDER BY e.version DESC LIMIT 1)
 WHERE phase <> 'closed';

CREATE INDEX projected_table_seed_key ON projected_table (house, generation, seed_key)
    WHERE seed_key IS NOT NULL;
