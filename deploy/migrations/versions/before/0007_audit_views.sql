-- The lines of statements: each event that moved chips of a player, with what it added to what the
-- player can dispose of (`amount`), has at risk, and to the bank of the table; and what the vault,
-- all stacks, all stakes and the bank came to. `hand` is -1 where the seat has one, `round` 0
-- outside of rounds.
CREATE TABLE projected_statement (
    house        text COLLATE "C" NOT NULL,
    generation   integer     NOT NULL,
    player       text COLLATE "C" NOT NULL,
    position     bigint      NOT NULL,
    at           timestamptz NOT NULL,
    kind         text        NOT NULL,
    table_id     text COLLATE "C" NOT NULL,
    round        bigint      NOT NULL,
    hand         integer     NOT NULL,
    detail       text        NOT NULL,
    amount       bigint      NOT NULL,
    at_risk      bigint      NOT NULL,
    bank         bigint      NOT NULL,
    vault_after  bigint      NOT NULL,
    stacks_after bigint      NOT NULL,
    risk_after   bigint      NOT NULL,
    bank_after   bigint      NOT NULL,
    PRIMARY KEY (house, generation, player, position)
);

-- The statement of a bank is made of the same lines, those that it had a part in.
CREATE INDEX projected_statement_of_a_bank
    ON projected_statement (house, generation, table_id, position) WHERE bank <> 0;

GRANT SELECT, INSERT, UPDATE, DELETE ON projected_statement TO croupier_app;

-- What is out of the ordinary. `round` is 0 outside of rounds; `table_id`, `player` and `actor` are
-- '' where there is none, and `detail` is what words need besides.
CREATE TABLE projected_significant (
    house      text COLLATE "C" NOT NULL,
    generation integer     NOT NULL,
    position   bigint      NOT NULL,
    at         timestamptz NOT NULL,
    type       text COLLATE "C" NOT NULL,
    table_id   text COLLATE "C" NOT NULL,
    round      bigint      NOT NULL,
    player     text COLLATE "C" NOT NULL,
    amount     bigint      NOT NULL,
    actor      text        NOT NULL,
    detail     text        NOT NULL,
    PRIMARY KEY (house, generation, position)
);

CREATE INDEX projected_significant_of_a_type
    ON projected_significant (house, generation, type, position);

-- The largest wins of a day (UTC) are found without looking at the others.
CREATE INDEX projected_hand_won
    ON projected_hand (house, generation, ((settled_at AT TIME ZONE 'UTC')::date),
                       (payout - stake), position)
    WHERE payout > stake;

GRANT SELECT, INSERT, UPDATE, DELETE ON projected_significant TO croupier_app;
