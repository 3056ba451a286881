-- Parts of the log that were exported and taken out. Whoever asks for them learns where they are,
-- and what remains goes on from the chain they end with.
CREATE TABLE archive (
    house          text COLLATE "C" NOT NULL,
    first_position bigint NOT NULL,
    last_position  bigint NOT NULL CHECK (last_position >= first_position),
    chain_before   bytea  NOT NULL CHECK (length(chain_before) = 32),
    chain          bytea  NOT NULL CHECK (length(chain) = 32),
    sha256         bytea  NOT NULL CHECK (length(sha256) = 32),
    place          text   NOT NULL,
    archived_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (house, last_position)
);

-- Up to which version a stream was taken out: states that old cannot be folded here any more. All
-- of it was put back where the version is 0.
CREATE TABLE archived_stream (
    house   text COLLATE "C" NOT NULL,
    stream  text COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    PRIMARY KEY (house, stream)
);

GRANT SELECT ON archive, archived_stream TO croupier_app;

-- Where partitions wait to be dropped, out of reach of whoever serves.
CREATE SCHEMA IF NOT EXISTS detached;
