-- The newest migration that took something away: only a release that knows it can live with the
-- schema. `croupier migrate` keeps it. One row.
CREATE TABLE schema_floor (
    revision text
);

INSERT INTO schema_floor VALUES (NULL);

GRANT SELECT ON schema_floor TO croupier_app;

-- When an event was recorded is not said any more: it was not sealed, so nobody could know whether
-- it was true. Whoever still says it does; the others leave it to the default, until 0010.
ALTER TABLE event_log ALTER COLUMN recorded_at SET DEFAULT now();
