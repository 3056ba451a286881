-- How far each house's log is sealed, and its chain there. Whoever makes the next seal holds the
-- row, so that two do not make it at once.
CREATE TABLE seal_head (
    house     text COLLATE "C" PRIMARY KEY,
    size      bigint      NOT NULL CHECK (size >= 0),
    chain     bytea       NOT NULL CHECK (length(chain) = 32),
    sealed_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The Merkle tree over the leaves of a log, in tiles of up to 256 hashes side by side: of the
-- leaves (level 0), of the subtrees over 256 leaves (1), over 65,536 (2). Only the last tile of a
-- level grows. It stays when events are archived, and can be made again from them.
CREATE TABLE seal_tile (
    house  text COLLATE "C" NOT NULL,
    level  integer NOT NULL,
    number bigint  NOT NULL,
    hashes bytea   NOT NULL CHECK (length(hashes) BETWEEN 32 AND 8192),
    PRIMARY KEY (house, level, number)
);

-- Hashes cannot be compressed, so nobody has to try.
ALTER TABLE seal_tile ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- The signed checkpoints, a copy of those outside the database: `size` events are sealed.
CREATE TABLE seal (
    house     text COLLATE "C" NOT NULL,
    size      bigint      NOT NULL CHECK (size > 0),
    note      text        NOT NULL,
    sealed_at timestamptz NOT NULL,
    PRIMARY KEY (house, size)
);

-- Every key that has ever sealed a log, and from which seal on.
CREATE TABLE seal_key (
    house      text COLLATE "C" NOT NULL,
    public_key text COLLATE "C" NOT NULL,
    first_size bigint NOT NULL,
    PRIMARY KEY (house, public_key)
);

-- What witnesses have signed, as lines of the note.
CREATE TABLE seal_cosignature (
    house     text COLLATE "C" NOT NULL,
    size      bigint      NOT NULL,
    witness   text COLLATE "C" NOT NULL,
    signature text        NOT NULL,
    seen_at   timestamptz NOT NULL,
    PRIMARY KEY (house, size, witness)
);

-- What was found wrong when a log was to be sealed.
CREATE TABLE seal_fault (
    house    text COLLATE "C" NOT NULL,
    position bigint      NOT NULL,
    what     text COLLATE "C" NOT NULL,
    found_at timestamptz NOT NULL,
    PRIMARY KEY (house, position, what)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['seal', 'seal_key', 'seal_cosignature', 'seal_fault'] LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
    END LOOP;
END
$$;

GRANT SELECT, INSERT, UPDATE ON seal_head, seal_tile TO croupier_app;
GRANT SELECT, INSERT ON seal, seal_key, seal_cosignature, seal_fault TO croupier_app;
