#!/bin/sh
# Makes what is secret in a stack, once: a directory each for the owner of the schema, for those who
# serve, for the cache, and for the workers, who seal. What is there stays as it is.
set -eu
cd "${1:-/run/secrets}"
mkdir -p owner serving cache sealing

random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# A private key of Ed25519 is 32 random bytes behind the head that PKCS #8 has for every such key.
ed25519() {
    echo '-----BEGIN PRIVATE KEY-----'
    { printf '\060\056\002\001\000\060\005\006\003\053\145\160\004\042\004\040' &&
        head -c 32 /dev/urandom; } | base64
    echo '-----END PRIVATE KEY-----'
}

[ -s sealing/seal.key ] || ed25519 >sealing/seal.key
[ -s serving/complete ] && exit

owner=$(random) serving=$(random) cache=$(random)
key=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')
printf %s "$owner" >owner/password
printf %s "postgresql://owner:$owner@postgres:5432/croupier" >owner/database-url
printf %s "postgresql://croupier:$serving@postgres:5432/croupier" >serving/database-url
printf %s "redis://:$cache@valkey:6379/0" >serving/redis-url
printf %s "key-1:$key" >serving/seed-keys
printf 'requirepass %s\nsave ""\nmaxmemory 64mb\nmaxmemory-policy allkeys-lru\n' "$cache" >cache/valkey.conf
date >serving/complete
