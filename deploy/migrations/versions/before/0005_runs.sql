-- The runs of each player, by the table where they were played. `position` is that of the start;
-- outcome, bankroll and end come with the end.
CREATE TABLE projected_run (
    house      text COLLATE "C" NOT NULL,
    generation integer     NOT NULL,
    table_id   text COLLATE "C" NOT NULL,
    number     bigint      NOT NULL,
    player     text COLLATE "C" NOT NULL,
    position   bigint      NOT NULL,
    ruleset    text        NOT NULL,
    source     text        NOT NULL,
    stake      bigint      NOT NULL,
    goal       bigint      NOT NULL,
    rounds     integer     NOT NULL,
    outcome    text,
    bankroll   bigint,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz,
    PRIMARY KEY (house, generation, table_id, number)
) WITH (fillfactor = 80);

-- Of columns that stay as they are, so that a run that goes on finds room beside itself (HOT).
CREATE INDEX projected_run_of_a_player ON projected_run (house, generation, player, position);

GRANT SELECT, INSERT, UPDATE, DELETE ON projected_run TO croupier_app;
