-- Spreads the log over the nodes of a Citus cluster: every house with all that is its own on one
-- node, every node with many houses. Run it once, as the owner of the schema, after
-- `croupier migrate` into a database that has the extension, and before the first house plays.
--
--     psql --single-transaction --set ON_ERROR_STOP=1 --file deploy/citus/distribute.sql

-- A trigger of ours refuses changes and does nothing else, so it may run on every node by itself.
SET citus.enable_unsafe_triggers = on;

-- A key says which house its caller belongs to, so it is looked for before the house is known.
SELECT create_reference_table('api_key');

-- Every table but that and `alembic_version`, which stays on the coordinator: a migration changes
-- the former in parallel and then notes so in the latter, which a reference table would refuse.
SELECT create_distributed_table('log_head', 'house');

SELECT create_distributed_table(name, 'house', colocate_with => 'log_head')
  FROM unnest(ARRAY[
       'account', 'archive', 'archived_stream', 'command_outcome', 'deadline', 'event_log',
       'posting', 'projected_hand', 'projected_return', 'projected_round', 'projected_table',
       'projection_checkpoint', 'snapshot', 'stream_head'
       ]::regclass[]) AS name;

-- A call goes whole to the node of its house, where all that it reads and writes is local.
SELECT create_distributed_function(p.oid::regprocedure, 'in_house', colocate_with => 'log_head')
  FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.proname = 'append_batch';
