#!/bin/sh
# Runs once, when the database is made: the three roles, each with a password of its own. ROLES is where roles.sql lies.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -f "${ROLES:-/roles.sql}"
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  -v migrator="$MIGRATOR_PASSWORD" -v gateway="$GATEWAY_PASSWORD" -v reader="$READER_PASSWORD" <<'SQL'
ALTER ROLE svc_migrator PASSWORD :'migrator';
ALTER ROLE svc_gateway PASSWORD :'gateway';
ALTER ROLE svc_reader PASSWORD :'reader';
SQL
