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
                           envelope, leaf, chain)
    SELECT in_house, positions[e], streams[event_streams[e]], new_versions[e], event_types[e],
           schema_versions[e], command_ids[causes[e]], envelopes[e], leaves[e], chains[e]
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

REVOKE ALL ON FUNCTION append_batch(
    text, text[], bytea[], integer[], bigint[], text[], bigint[], integer[], text[], integer[],
    text[], integer[], bytea[], bytea[], integer[], text[], integer[], bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_batch(
    text, text[], bytea[], integer[], bigint[], text[], bigint[], integer[], text[], integer[],
    text[], integer[], bytea[], bytea[], integer[], text[], integer[], bigint[]) TO croupier_app;
