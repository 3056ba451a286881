-- Spreads the log over the nodes of a Citus cluster: every house with all that is its own on one
-- node, every node with many houses. Run it once, as the owner of the schema, after
-- `croupier migrate` into a database that has the extension:
--
--     psql "$CROUPIER_MIGRATION_URL" --set ON_ERROR_STOP=1 --file deploy/citus/distribute.sql

-- Triggers of ours refuse changes and do nothing else, so they may run on every node by themselves.
-- The owner needs the switch again for each new partition.
SET citus.enable_unsafe_triggers = on;
ALTER ROLE CURRENT_USER SET citus.enable_unsafe_triggers = on;

-- A key says which house its caller belongs to, so it is looked for before the house is known.
SELECT create_reference_table('api_key');
SELECT create_reference_table('api_key_use');

-- Every table but these and `alembic_version` with `schema_floor`, which stay on the coordinator: a
-- migration changes the others in parallel and then notes so there, which a reference table would
-- refuse.
SELECT create_distributed_table('log_head', 'house');
SELECT create_distributed_table('account', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('archive', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('archived_stream', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('command_outcome', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('deadline', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('event_log', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('posting', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_curve', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_hand', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_return', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_round', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_run', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_significant', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_statement', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projected_table', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('projection_checkpoint', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal_cosignature', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal_fault', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal_head', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal_key', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('seal_tile', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('snapshot', 'house', colocate_with => 'log_head');
SELECT create_distributed_table('stream_head', 'house', colocate_with => 'log_head');

-- A call goes whole to the node of its house, where all that it reads and writes is local.
SELECT create_distributed_function(p.oid::regprocedure, 'in_house', colocate_with => 'log_head')
  FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.proname = 'append_batch';
