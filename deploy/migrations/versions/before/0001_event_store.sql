-- The event log and the ledger on it. The function that writes both is in 0001_append_batch.sql.
-- `house` leads every key: each house's log is contiguous, can be checked alone, and can move to
-- a node of its own (Citus, distributed by house) without a change to any statement.
-- Keys compare as bytes ("C"), so pages come in the same order whatever the cluster's locale is.

-- Where each house's log ends. The row is the lock that makes positions gapless: it is taken,
-- advanced and released with the append, so a rollback leaves no hole and order is commit order.
CREATE TABLE log_head (
    house    text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL CHECK (position >= 0),
    chain    bytea  NOT NULL CHECK (length(chain) = 32)
);

CREATE TABLE event_log (
    house          text COLLATE "C" NOT NULL,
    position       bigint      NOT NULL,
    stream         text COLLATE "C" NOT NULL,
    version        bigint      NOT NULL,
    type           text        NOT NULL,
    schema_version integer     NOT NULL,
    command_id     text COLLATE "C" NOT NULL,
    envelope       bytea       NOT NULL,
    leaf           bytea       NOT NULL,
    chain          bytea       NOT NULL,
    recorded_at    timestamptz NOT NULL,
    PRIMARY KEY (house, position)
) PARTITION BY RANGE (position);

-- No two entries are the same, so looking for repetitions before a page is split is in vain.
CREATE INDEX event_log_stream ON event_log (house, stream, version)
    WITH (deduplicate_items = off);

-- Two partitions of 50 million events ahead, because a table cannot be partitioned later without
-- copying it, and few, because a stream is looked for in each. The default makes running past
-- them harmless; while it is empty, the next partition is attached at once.
CREATE TABLE event_log_0 PARTITION OF event_log FOR VALUES FROM (MINVALUE) TO (50000001);
CREATE TABLE event_log_1 PARTITION OF event_log FOR VALUES FROM (50000001) TO (100000001);
CREATE TABLE event_log_rest PARTITION OF event_log DEFAULT;

CREATE TABLE stream_head (
    house   text COLLATE "C" NOT NULL,
    stream  text COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    PRIMARY KEY (house, stream)
) WITH (fillfactor = 50);

-- Accepted commands only: a refused one may be sent again and be judged afresh.
CREATE TABLE command_outcome (
    house          text COLLATE "C" NOT NULL,
    command_id     text COLLATE "C" NOT NULL,
    request_hash   bytea  NOT NULL,
    stream         text COLLATE "C" NOT NULL,
    version        bigint NOT NULL,
    first_position bigint NOT NULL,
    last_position  bigint NOT NULL,
    PRIMARY KEY (house, command_id)
);

-- The balance that an account may not fall below; none for banks and the issuance. The row of an
-- account keeps it, so that it is worked out once.
CREATE FUNCTION account_floor(account text) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN account LIKE '%/stack' OR account LIKE '%/in\_play' OR account LIKE '%/vault'
           THEN 0 END;

-- Half of each page stays free, so that a new balance finds room beside the old one (HOT).
CREATE TABLE account (
    house   text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    balance bigint NOT NULL,
    floor   bigint,
    PRIMARY KEY (house, account),
    CONSTRAINT account_floor CHECK (balance >= floor)
) WITH (fillfactor = 50);

-- The entries of an account, one page after another. Those of an event are in its envelope.
CREATE TABLE posting (
    house         text COLLATE "C" NOT NULL,
    position      bigint  NOT NULL,
    line          integer NOT NULL,
    account       text COLLATE "C" NOT NULL,
    amount        bigint  NOT NULL,
    balance_after bigint  NOT NULL,
    PRIMARY KEY (house, account, position, line)
);

-- Folded states, to spare a long fold. Disposable: delete any or all at any time.
CREATE TABLE snapshot (
    house    text COLLATE "C" NOT NULL,
    stream   text COLLATE "C" NOT NULL,
    format   text COLLATE "C" NOT NULL,
    version  bigint NOT NULL,
    position bigint NOT NULL,
    state    bytea  NOT NULL,
    PRIMARY KEY (house, stream, format, version)
);


-- Until when a stream waits, and for what; a row a stream, without a `due_at` when it waits for
-- nothing. Whoever says that time is out claims it first, so that two do not do it at once.
CREATE TABLE deadline (
    house         text COLLATE "C" NOT NULL,
    stream        text COLLATE "C" NOT NULL,
    turn          text NOT NULL,
    due_at        timestamptz,
    claimed_until timestamptz,
    PRIMARY KEY (house, stream)
) WITH (fillfactor = 50);

CREATE INDEX deadline_due ON deadline (house, due_at) WHERE due_at IS NOT NULL;

-- The deadlines that are due, the oldest first. Nobody else gets them before `claimed_until`.
CREATE FUNCTION claim_deadlines(
    in_house text, in_now timestamptz, in_until timestamptz, most bigint
) RETURNS TABLE (stream text, turn text, due_at timestamptz)
    LANGUAGE sql SECURITY DEFINER
    SET search_path = public, pg_temp
BEGIN ATOMIC
    WITH due AS MATERIALIZED (
        SELECT f.stream FROM deadline f
         WHERE f.house = in_house AND f.due_at <= in_now
           AND (f.claimed_until IS NULL OR f.claimed_until <= in_now)
         ORDER BY f.due_at, f.stream LIMIT most FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE deadline d SET claimed_until = in_until FROM due
         WHERE d.house = in_house AND d.stream = due.stream
        RETURNING d.stream, d.turn, d.due_at
    )
    SELECT c.stream, c.turn, c.due_at FROM claimed c ORDER BY c.due_at, c.stream;
END;

-- Begins the log of a house; harmless when it is open already.
CREATE FUNCTION open_house(name text) RETURNS void
    LANGUAGE sql
    SET search_path = public, pg_temp
BEGIN ATOMIC
    INSERT INTO log_head (house, position, chain)
    VALUES (name, 0, decode(repeat('00', 32), 'hex')) ON CONFLICT (house) DO NOTHING;
END;


-- What is recorded stays as it is, for the owner too.
CREATE FUNCTION refuse_change() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % is refused.', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'Correct a mistake by recording another event.';
END
$$;

-- A trigger of a partitioned table does not guard its partitions against a direct TRUNCATE.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['event_log', 'event_log_0', 'event_log_1', 'event_log_rest',
                                'posting', 'command_outcome'] LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
    END LOOP;
END
$$;


-- The role that serves: it reads, and appends through the function alone. Roles belong to the
-- cluster, so another database of it may have made this one already.
DO $$
BEGIN
    CREATE ROLE croupier_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;
GRANT croupier_app TO CURRENT_USER;

REVOKE ALL ON FUNCTION claim_deadlines, open_house FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_deadlines TO croupier_app;
GRANT USAGE ON SCHEMA public TO croupier_app;
GRANT SELECT ON log_head, event_log, stream_head, command_outcome, account, posting, deadline
    TO croupier_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON snapshot TO croupier_app;
