#!/bin/sh
# Starts Redis with one user that can do anything with data, the gateway's, which has the rights of gateway.acl.
set -eu
umask 077
{
  echo "user default off"
  echo "user svc >${REDIS_PASSWORD:?} $(cat /gateway.acl)"
  echo "user health on nopass resetkeys -@all +ping"
} > /tmp/users.acl
chown redis /tmp/users.acl 2>/dev/null || true
exec docker-entrypoint.sh redis-server --aclfile /tmp/users.acl --appendonly yes --appendfsync everysec --save "" \
  --maxmemory-policy noeviction
