DROP FUNCTION append_batch(
    text, timestamptz, text[], bytea[], integer[], bigint[], text[], bigint[], integer[], text[],
    integer[], text[], integer[], bytea[], bytea[], integer[], text[], integer[], bigint[]);

ALTER TABLE event_log DROP COLUMN recorded_at;
