-- The event log, the ledger on it, and the one function that writes both.
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


-- Records a batch of commands, in order, as if one after the other, in one transaction.
--
-- Commands, events and postings come as parallel arrays, the events of a command and the postings
-- of an event side by side; `last_events` and `last_postings` say where each one's end. Streams
-- and accounts are named once and meant by their place in `streams` and `accounts`.
-- The ids of a batch differ. An expected version of -1 means: whatever it is. A leaf is the hash of
-- its envelope; the caller computes it, outside of the lock, and everyone who reads checks it.
-- `dues` are in milliseconds since the epoch: 0 when the stream waits for nothing any more, -1 when
-- it waits as before.
--
-- The answer is an outcome a command, then its three facts, each as n numbers in a row:
--   0 accepted           first position · last position · version of the stream
--   1 replayed           the same, of the first time
--   2 key reused
--   3 version conflict   actual version
--   4 insufficient chips place in `accounts` · balance · needed
--   5 unbalanced         sum of the postings
--
-- Read first, decide in memory, write last: the facts are read by key and the rows written in
-- sets, so the number of statements does not grow with the batch. A row that changes is found
-- again by its place (ctid): the lock on the head of the log keeps it there, and a second search
-- by key, with the row lock of ON CONFLICT, costs a tenth of the append.
CREATE FUNCTION append_batch(
    in_house          text,
    in_now            timestamptz,
    command_ids       text[],
    request_hashes    bytea[],
    command_streams   integer[],
    expected_versions bigint[],
    turns             text[],
    dues              bigint[],
    last_events       integer[],
    streams           text[],
    event_streams     integer[],
    event_types       text[],
    schema_versions   integer[],
    envelopes         bytea[],
    leaves            bytea[],
    last_postings     integer[],
    accounts          text[],
    posting_accounts  integer[],
    amounts           bigint[]
) RETURNS bigint[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp
    -- Plans are made once, perhaps while the tables are empty: they must not depend on their size.
    -- These leave one way to each row, by its key or its place.
    SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET enable_material = off
    SET random_page_cost = 0
AS $$
DECLARE
    accepted           CONSTANT bigint := 0;
    replayed           CONSTANT bigint := 1;
    key_reused         CONSTANT bigint := 2;
    version_conflict   CONSTANT bigint := 3;
    insufficient_chips CONSTANT bigint := 4;
    unbalanced         CONSTANT bigint := 5;
    any_version        CONSTANT bigint := -1;

    head_position bigint;
    head_chain    bytea;
    versions      bigint[];  -- a stream each, as the commands before left it
    stream_places tid[];     -- likewise: where its row is, if there is one
    balances      bigint[];  -- an account each, likewise
    places        tid[];
    floors        bigint[];
    known_hashes  bytea[];   -- a command each: what was recorded under its id before
    outcomes      bigint[];  -- a command each, and the three facts of its answer
    facts_1       bigint[];
    facts_2       bigint[];
    facts_3       bigint[];
    positions     bigint[];  -- an event each; nothing for events of refused commands
    new_versions  bigint[];
    chains        bytea[];
    causes        integer[];
    sources       integer[]; -- a posting each, likewise: its event, and its place there from 0
    lines         integer[];
    new_balances  bigint[];
    moved         boolean[]; -- an account each: whether an accepted command uses it
    waits         integer[]; -- a stream each: the last command that says what it waits for

    event_from    integer := 1;
    posting_from  integer := 1;
    posting_last  integer;
    stream_at     integer;
    account_at    integer;
    short         integer;
    total         bigint;
BEGIN
    SELECT h.position, h.chain INTO head_position, head_chain
      FROM log_head h WHERE h.house = in_house FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'The house % is not open.', in_house
            USING ERRCODE = 'CR404', HINT = 'Open it with: SELECT open_house(name)';
    END IF;

    -- Read. Waiting for the lock did not refresh the snapshot of the statement above; these have
    -- their own. Every table is read by its key, row by row: a plan without a choice.
    SELECT array_agg(k.request_hash), array_agg(k.first_position), array_agg(k.last_position),
           array_agg(k.version)
      INTO known_hashes, facts_1, facts_2, facts_3
      FROM unnest(command_ids) AS c(id)
      LEFT JOIN LATERAL (SELECT * FROM command_outcome o
                          WHERE o.house = in_house AND o.command_id = c.id OFFSET 0) k ON true;
    SELECT array_agg(coalesce(k.version, 0)), array_agg(k.ctid) INTO versions, stream_places
      FROM unnest(streams) AS s(name)
      LEFT JOIN LATERAL (SELECT h.version, h.ctid FROM stream_head h
                          WHERE h.house = in_house AND h.stream = s.name OFFSET 0) k ON true;
    SELECT array_agg(coalesce(k.balance, 0)), array_agg(k.ctid),
           array_agg(CASE WHEN k.ctid IS NULL THEN account_floor(a.name) ELSE k.floor END)
      INTO balances, places, floors
      FROM unnest(accounts) AS a(name)
      LEFT JOIN LATERAL (SELECT b.balance, b.floor, b.ctid FROM account b
                          WHERE b.house = in_house AND b.account = a.name OFFSET 0) k ON true;

    -- Decide, each command on what the ones before it left.
    FOR command IN 1 .. cardinality(command_ids) LOOP
        stream_at := command_streams[command];
        posting_last := last_postings[last_events[command]];
        IF known_hashes[command] = request_hashes[command] THEN
            outcomes[command] := replayed;
        ELSIF known_hashes[command] IS NOT NULL THEN
            outcomes[command] := key_reused;
        ELSIF expected_versions[command] NOT IN (any_version, versions[stream_at]) THEN
            outcomes[command] := version_conflict;
            facts_1[command] := versions[stream_at];
        ELSE
            outcomes[command] := accepted;
            total := 0;
            short := NULL;
            FOR posting IN posting_from .. posting_last LOOP
                account_at := posting_accounts[posting];
                total := total + amounts[posting];
                balances[account_at] := balances[account_at] + amounts[posting];
                new_balances[posting] := balances[account_at];
                IF short IS NULL AND amounts[posting] < 0
                   AND balances[account_at] < floors[account_at] THEN
                    short := posting;
                END IF;
            END LOOP;
            IF total <> 0 THEN
                outcomes[command] := unbalanced;
                facts_1[command] := total;
            ELSIF short IS NOT NULL THEN
                outcomes[command] := insufficient_chips;
                facts_1[command] := posting_accounts[short];
                facts_2[command] := new_balances[short] - amounts[short];
                facts_3[command] := -amounts[short];
            END IF;
        END IF;

        IF outcomes[command] = accepted THEN
            facts_1[command] := head_position + 1;
            FOR event IN event_from .. last_events[command] LOOP
                head_chain := sha256(head_chain || leaves[event]);
                head_position := head_position + 1;
                versions[event_streams[event]] := versions[event_streams[event]] + 1;
                positions[event] := head_position;
                new_versions[event] := versions[event_streams[event]];
                chains[event] := head_chain;
                causes[event] := command;
                FOR posting IN posting_from .. last_postings[event] LOOP
                    moved[posting_accounts[posting]] := true;
                    sources[posting] := event;
                    lines[posting] := posting - posting_from;
                END LOOP;
                posting_from := last_postings[event] + 1;
            END LOOP;
            facts_2[command] := head_position;
            IF dues[command] >= 0 THEN
                waits[stream_at] := command;
            END IF;
            facts_3[command] := versions[stream_at];
        ELSIF outcomes[command] IN (insufficient_chips, unbalanced) THEN
            FOR posting IN posting_from .. posting_last LOOP
                account_at := posting_accounts[posting];
                balances[account_at] := balances[account_at] - amounts[posting];
            END LOOP;
        END IF;
        event_from := last_events[command] + 1;
        posting_from := posting_last + 1;
    END LOOP;

    -- Write.
    INSERT INTO event_log (house, position, stream, version, type, schema_version, command_id,
                           envelope, leaf, chain, recorded_at)
    SELECT in_house, positions[e], streams[event_streams[e]], new_versions[e], event_types[e],
           schema_versions[e], command_ids[causes[e]], envelopes[e], leaves[e], chains[e], in_now
      FROM generate_series(1, cardinality(envelopes)) AS e
     WHERE positions[e] IS NOT NULL;
    INSERT INTO posting (house, position, line, account, amount, balance_after)
    SELECT in_house, positions[sources[p]], lines[p], accounts[posting_accounts[p]], amounts[p],
           new_balances[p]
      FROM generate_series(1, cardinality(amounts)) AS p
     WHERE sources[p] IS NOT NULL;
    -- The house comes out of log_head here because Citus wants a row from the same node.
    MERGE INTO stream_head h
    USING (SELECT l.house, streams[s] AS stream, versions[s] AS version, stream_places[s] AS place
             FROM log_head l, generate_series(1, cardinality(streams)) AS s
            WHERE l.house = in_house) n
       ON h.house = n.house AND h.ctid = n.place
     WHEN MATCHED AND h.version < n.version THEN UPDATE SET version = n.version
     WHEN NOT MATCHED AND n.version > 0 THEN
          INSERT (house, stream, version) VALUES (n.house, n.stream, n.version);
    MERGE INTO account b
    USING (SELECT l.house, accounts[a] AS account, balances[a] AS balance, floors[a] AS floor,
                  places[a] AS place
             FROM log_head l, generate_series(1, cardinality(accounts)) AS a
            WHERE l.house = in_house AND moved[a]) n
       ON b.house = n.house AND b.ctid = n.place
     WHEN MATCHED THEN UPDATE SET balance = n.balance
     WHEN NOT MATCHED THEN
          INSERT (house, account, balance, floor)
          VALUES (n.house, n.account, n.balance, n.floor);
    INSERT INTO command_outcome (house, command_id, request_hash, stream, version, first_position,
                                 last_position)
    SELECT in_house, command_ids[c], request_hashes[c], streams[command_streams[c]], facts_3[c],
           facts_1[c], facts_2[c]
      FROM generate_series(1, cardinality(command_ids)) AS c
     WHERE outcomes[c] = accepted;
    INSERT INTO deadline AS d (house, stream, turn, due_at)
    SELECT in_house, streams[s], turns[waits[s]],
           CASE WHEN dues[waits[s]] > 0 THEN to_timestamp(dues[waits[s]] / 1000.0) END
      FROM generate_series(1, cardinality(streams)) AS s
     WHERE waits[s] IS NOT NULL
    ON CONFLICT (house, stream) DO UPDATE
       SET turn = excluded.turn, due_at = excluded.due_at, claimed_until = NULL;
    UPDATE log_head h SET position = head_position, chain = head_chain
     WHERE h.house = in_house AND h.position < head_position;

    RETURN outcomes || facts_1 || facts_2 || facts_3;
END
$$;

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

REVOKE ALL ON FUNCTION append_batch, claim_deadlines, open_house FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_batch, claim_deadlines TO croupier_app;
GRANT USAGE ON SCHEMA public TO croupier_app;
GRANT SELECT ON log_head, event_log, stream_head, command_outcome, account, posting, deadline
    TO croupier_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON snapshot TO croupier_app;
