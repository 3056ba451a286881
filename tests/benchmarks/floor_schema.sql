-- The rows and indexes of Croupier's append, in plain tables of their own: no gapless positions,
-- no partitions, no checks, no triggers.
CREATE SCHEMA floor;

CREATE TABLE floor.event_log (
    house          text        NOT NULL,
    position       bigint      GENERATED ALWAYS AS IDENTITY,
    stream         text        NOT NULL,
    version        bigint      NOT NULL,
    type           text        NOT NULL,
    schema_version integer     NOT NULL,
    command_id     text        NOT NULL,
    envelope       bytea       NOT NULL,
    leaf           bytea       NOT NULL,
    chain          bytea       NOT NULL,
    PRIMARY KEY (house, position)
);
CREATE INDEX event_log_stream ON floor.event_log (house, stream, version);

CREATE TABLE floor.stream_head (
    house   text   NOT NULL,
    stream  text   NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (house, stream)
) WITH (fillfactor = 50);

CREATE TABLE floor.command_outcome (
    house          text   NOT NULL,
    command_id     text   NOT NULL,
    request_hash   bytea  NOT NULL,
    stream         text   NOT NULL,
    version        bigint NOT NULL,
    first_position bigint NOT NULL,
    last_position  bigint NOT NULL,
    PRIMARY KEY (house, command_id)
);

CREATE TABLE floor.account (
    house   text   NOT NULL,
    account text   NOT NULL,
    balance bigint NOT NULL,
    PRIMARY KEY (house, account)
) WITH (fillfactor = 50);

CREATE TABLE floor.posting (
    house         text    NOT NULL,
    position      bigint  NOT NULL,
    line          integer NOT NULL,
    account       text    NOT NULL,
    amount        bigint  NOT NULL,
    balance_after bigint  NOT NULL,
    PRIMARY KEY (house, account, position, line)
);

INSERT INTO floor.stream_head
SELECT 'local', 'table-' || n, 0 FROM generate_series(1, 20000) n;
INSERT INTO floor.account
SELECT 'local', 'table/table-' || n || kind, 0
FROM generate_series(1, 20000) n, unnest(ARRAY['/bank', '/player/ada/stack']) kind;
ANALYZE floor.stream_head, floor.account;
