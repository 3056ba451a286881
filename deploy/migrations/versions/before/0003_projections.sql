-- Views of the log for those who ask often. All of it is disposable: `croupier rebuild` makes any
-- of it again from the log.

-- How far each view of a house has come. The position moves in the transaction that writes the
-- view's rows, from where the writer believes it to be: who is wrong writes nothing. `holder` is
-- the worker that writes it, until `held_until` unless it goes on.
-- A view is built anew as another generation beside the one that is read, and then takes its
-- place; the one before is kept.
CREATE TABLE projection_checkpoint (
    house           text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    generation      integer     NOT NULL,
    position        bigint      NOT NULL CHECK (position >= 0),
    holder          text        NOT NULL,
    held_until      timestamptz NOT NULL,
    kept_generation integer,
    kept_position   bigint,
    PRIMARY KEY (house, name)
) WITH (fillfactor = 50);

-- The tables as they are. No index on what changes with every command, so that a new state finds
-- room beside the old one (HOT): who asks for a phase reads some rows more.
CREATE TABLE projected_table (
    house      text COLLATE "C" NOT NULL,
    generation integer NOT NULL,
    id         text COLLATE "C" NOT NULL,
    ruleset    text    NOT NULL,
    phase      text    NOT NULL,
    host       text,
    seats      integer NOT NULL,
    players    text[]  NOT NULL,
    rounds     bigint  NOT NULL,
    version    bigint  NOT NULL,
    position   bigint  NOT NULL,
    PRIMARY KEY (house, generation, id)
) WITH (fillfactor = 50);

-- The rounds of a table. `last_version` is that of the round's last event; nothing while it runs.
-- Its first event is the one after the round before.
CREATE TABLE projected_round (
    house        text COLLATE "C" NOT NULL,
    generation   integer     NOT NULL,
    table_id     text COLLATE "C" NOT NULL,
    number       bigint      NOT NULL,
    opened_at    timestamptz NOT NULL,
    ended_at     timestamptz,
    last_version bigint,
    hands        integer     NOT NULL,
    stake        bigint      NOT NULL,
    payout       bigint      NOT NULL,
    PRIMARY KEY (house, generation, table_id, number)
) WITH (fillfactor = 80);

-- The settled hands of a player. `position` is that of the settlement.
CREATE TABLE projected_hand (
    house      text COLLATE "C" NOT NULL,
    generation integer     NOT NULL,
    player     text COLLATE "C" NOT NULL,
    position   bigint      NOT NULL,
    round      text        NOT NULL,
    ruleset    text        NOT NULL,
    seat       integer     NOT NULL,
    hand       integer     NOT NULL,
    cards      text        NOT NULL,
    outcome    text        NOT NULL,
    stake      bigint      NOT NULL,
    payout     bigint      NOT NULL,
    settled_at timestamptz NOT NULL,
    PRIMARY KEY (house, generation, player, position)
);

-- What was staked and what came back, by day (UTC) and ruleset; insurance apart from the hands.
CREATE TABLE projected_return (
    house            text COLLATE "C" NOT NULL,
    generation       integer NOT NULL,
    day              date    NOT NULL,
    ruleset          text COLLATE "C" NOT NULL,
    rounds           bigint  NOT NULL,
    hands            bigint  NOT NULL,
    stake            bigint  NOT NULL,
    payout           bigint  NOT NULL,
    insurance_stake  bigint  NOT NULL,
    insurance_payout bigint  NOT NULL,
    PRIMARY KEY (house, generation, day, ruleset)
) WITH (fillfactor = 50);

-- How the return of each game and each table came about, in sums from the first round on. `step` is
-- the round at which a row begins: each of the first 31, then sixteen in every doubling, so that a
-- million rounds are 271 rows. The newest row has all of them. `table_id` is '' for all tables of a
-- game together. At step 0 a table has what the round that runs has settled so far.
-- `bet` are the opening bets, `rounded` the half chips that rounding took, `squares` the sum of the
-- squares of what each round came to. A round whose rules were `changed`, by a modifier or an item,
-- has other odds than its game and is not counted; while it runs, step 0 says so.
CREATE TABLE projected_curve (
    house      text COLLATE "C" NOT NULL,
    generation integer NOT NULL,
    table_id   text COLLATE "C" NOT NULL,
    ruleset    text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    step       bigint  NOT NULL,
    rounds     bigint  NOT NULL,
    bet        bigint  NOT NULL,
    stake      bigint  NOT NULL,
    payout     bigint  NOT NULL,
    rounded    bigint  NOT NULL,
    squares    numeric NOT NULL,
    changed    boolean NOT NULL DEFAULT false,
    PRIMARY KEY (house, generation, table_id, ruleset, version, step)
) WITH (fillfactor = 50);

GRANT SELECT, INSERT, UPDATE, DELETE
   ON projection_checkpoint, projected_table, projected_round, projected_hand, projected_return,
      projected_curve
   TO croupier_app;
