"""Where everything that happens is kept: an append-only log, with the ledger that hangs on it.

store         the promises, and the words they are made in (`Append`, `Recorded`, …)
postgres      the log in Postgres; columns, arrays: a batch on its way there
memory        the same in memory, the plainest way
batcher       many callers, one transaction
loader        streams folded into states
subscription  following a log; wakeups: knowing when to look
codec         events and their old versions; envelope: the bytes; chain: the proof
migrate       the schema, from deploy/migrations
"""
