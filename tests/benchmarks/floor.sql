-- One command as one statement: what Postgres itself can do, one durable transaction a command.
\set n random(1, 20000)
WITH command AS (
    SELECT gen_random_uuid()::text AS id, 'table-' || :n AS stream
), head AS (
    UPDATE floor.stream_head h SET version = h.version + 3
    FROM command c
    WHERE h.house = 'local' AND h.stream = 'table-' || :n
    RETURNING c.id, c.stream, h.version
), appended AS (
    INSERT INTO floor.event_log (house, stream, version, type, schema_version, command_id,
                                 envelope, leaf, chain)
    SELECT 'local', stream, version - 3 + line, 'blackjack.card_dealt', 1, id,
           convert_to(repeat('e', :envelope_bytes), 'UTF8'), convert_to(repeat('l', 32), 'UTF8'),
           convert_to(repeat('c', 32), 'UTF8')
    FROM head, generate_series(1, 3) line
    RETURNING position
), place AS (
    SELECT min(position) AS first, max(position) AS last FROM appended
), moved AS (
    UPDATE floor.account a SET balance = a.balance + m.amount
    FROM (VALUES (0, 'table/table-' || :n || '/bank', -10),
                 (1, 'table/table-' || :n || '/player/ada/stack', 10)) m (line, account, amount)
    WHERE a.house = 'local' AND a.account = m.account
    RETURNING m.line, a.account, m.amount, a.balance
), posted AS (
    INSERT INTO floor.posting (house, position, line, account, amount, balance_after)
    SELECT 'local', place.first, line, account, amount, balance FROM moved, place
)
INSERT INTO floor.command_outcome (house, command_id, request_hash, stream, version,
                                   first_position, last_position)
SELECT 'local', id, convert_to(repeat('h', 32), 'UTF8'), stream, version, first, last
FROM head, place;
