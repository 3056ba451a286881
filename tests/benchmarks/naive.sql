-- The naive service's own tables, in a database of its own.
CREATE TABLE tables (
  id text PRIMARY KEY,
  seed bytea NOT NULL,
  next_seed bytea NOT NULL
);

CREATE TABLE events (
  table_id text NOT NULL REFERENCES tables,
  version int NOT NULL,
  type text NOT NULL,
  data jsonb NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (table_id, version)
);

CREATE TABLE balances (account text PRIMARY KEY, amount bigint NOT NULL);

CREATE TABLE postings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  idempotency_key text NOT NULL,
  account text NOT NULL,
  amount bigint NOT NULL
);

CREATE TABLE idempotency (key text PRIMARY KEY, response jsonb NOT NULL);
