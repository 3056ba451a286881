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

REVOKE ALL ON FUNCTION append_batch(
    text, text[], bytea[], integer[], bigint[], text[], bigint[], integer[], text[], integer[],
    text[], integer[], bytea[], bytea[], integer[], text[], integer[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_batch(
    text, text[], bytea[], integer[], bigint[], text[], bigint[], integer[], text[], integer[],
    text[], integer[], bytea[], bytea[], integer[], text[], integer[], bigint[]) TO croupier_app;

-- When the command of an event was decided; nothing where its envelope does not say so.
CREATE FUNCTION event_time(envelope bytea) RETURNS timestamptz
    LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN convert_from(envelope, 'UTF8')::jsonb ->> 'time';
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END
$$;
