#!/bin/sh
# Starts Redis with one user that can do anything with data, the gateway's, which has the rights of gateway.acl. Further words are
# options of the server. With REDIS_CLUSTER_PASSWORD there is a user by whom the nodes of a cluster know each other.
set -eu
umask 077
: "${SETTINGS:=/tmp}" "${GATEWAY_ACL:=/gateway.acl}"
rules=$(cat "$GATEWAY_ACL")
# A gateway with a prefix gets the names below it, and no others.
if [ -n "${REDIS_KEY_PREFIX:-}" ]; then
  rules=$(printf '%s' "$rules" | sed "s/ ~[^ ]*//g; s/resetkeys/resetkeys ~$REDIS_KEY_PREFIX*/")
fi
{
  echo "user default off"
  echo "user svc >${REDIS_PASSWORD:?} $rules"
  echo "user health on nopass resetkeys -@all +ping"
  if [ -n "${REDIS_CLUSTER_PASSWORD:-}" ]; then
    echo "user cluster on >$REDIS_CLUSTER_PASSWORD resetkeys resetchannels -@all +ping +info +cluster +psync +replconf"
  fi
} > "$SETTINGS/users.acl"
{
  echo "aclfile $SETTINGS/users.acl"
  if [ -n "${REDIS_CLUSTER_PASSWORD:-}" ]; then printf 'masteruser cluster\nmasterauth %s\n' "$REDIS_CLUSTER_PASSWORD"; fi
} > "$SETTINGS/redis.conf"
chown redis "$SETTINGS/users.acl" "$SETTINGS/redis.conf" 2>/dev/null || true
# The image has a program that gives up root first; elsewhere whoever starts this is the user already.
entrypoint=$(command -v docker-entrypoint.sh || true)
# shellcheck disable=SC2086
exec $entrypoint redis-server "$SETTINGS/redis.conf" --appendonly yes --appendfsync everysec --save "" \
  --maxmemory-policy noeviction ${REDIS_MAXMEMORY:+--maxmemory "$REDIS_MAXMEMORY"} "$@"
