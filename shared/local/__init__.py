"""Postgres and Valkey from wheels, for one machine: what `croupier up` and the tests run on."""
