-- The rows of an append, in tables without a gapless log, a check or a trigger: less than Croupier's.
DROP SCHEMA IF EXISTS floor CASCADE;
CREATE SCHEMA floor;

CREATE TABLE floor.stream_head (stream text PRIMARY KEY, version bigint NOT NULL)
  WITH (fillfactor = 50);

CREATE TABLE floor.event (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stream text NOT NULL,
  version bigint NOT NULL,
  type text NOT NULL,
  envelope bytea NOT NULL,
  leaf bytea NOT NULL,
  chain bytea NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (stream, version)
);

CREATE TABLE floor.account (account text PRIMARY KEY, balance bigint NOT NULL)
  WITH (fillfactor = 50);

CREATE TABLE floor.posting (
  position bigint NOT NULL,
  line int NOT NULL,
  account text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  PRIMARY KEY (position, line)
);

CREATE TABLE floor.command_outcome (
  command_id text PRIMARY KEY,
  request_hash bytea NOT NULL,
  first_position bigint NOT NULL,
  last_position bigint NOT NULL
);

INSERT INTO floor.stream_head SELECT 'table-' || n, 0 FROM generate_series(1, 20000) n;
INSERT INTO floor.account SELECT 'table/table-' || n || '/in_play', 0 FROM generate_series(1, 20000) n;
INSERT INTO floor.account
  SELECT 'table/table-' || n || '/player/ada/stack', 0 FROM generate_series(1, 20000) n;
