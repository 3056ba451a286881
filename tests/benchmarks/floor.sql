-- One command as one statement: what Postgres itself can do, one durable transaction a command.
\set n random(1, 20000)
WITH head AS (
  UPDATE floor.stream_head SET version = version + 3
  WHERE stream = 'table-' || :n
  RETURNING stream, version
), appended AS (
  INSERT INTO floor.event (stream, version, type, envelope, leaf, chain)
  SELECT stream, version - 3 + line, 'blackjack.card_dealt', convert_to(repeat('x', :envelope_bytes), 'UTF8'),
         convert_to(repeat('y', 32), 'UTF8'), convert_to(repeat('z', 32), 'UTF8')
  FROM head, generate_series(1, 3) line
  RETURNING position
), moved AS (
  UPDATE floor.account SET balance = balance + move.amount
  FROM (VALUES (1, 'table/table-' || :n || '/in_play', 10),
               (2, 'table/table-' || :n || '/player/ada/stack', -10)) move (line, account, amount)
  WHERE account.account = move.account
  RETURNING move.line, account.account, move.amount, balance
), posted AS (
  INSERT INTO floor.posting (position, line, account, amount, balance_after)
  SELECT (SELECT min(position) FROM appended), line, account, amount, balance FROM moved
)
INSERT INTO floor.command_outcome (command_id, request_hash, first_position, last_position)
SELECT gen_random_uuid()::text, convert_to(repeat('h', 32), 'UTF8'), min(position), max(position)
FROM appended;
