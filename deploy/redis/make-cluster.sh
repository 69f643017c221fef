#!/bin/sh
# Makes one cluster of NODES (address:port, by spaces), half of them replicas, where that is not done yet.
set -eu
export REDISCLI_AUTH="${REDIS_CLUSTER_PASSWORD:?}"
first=${NODES%% *}

info() {
  redis-cli --user cluster --no-auth-warning -h "${first%:*}" -p "${first#*:}" cluster info 2>/dev/null
}

is_whole() {
  info | grep -q '^cluster_state:ok'
}

# Nodes that have met before find each other again, which takes them a moment; nodes that do not answer yet are waited for.
until is_whole; do
  if info | grep -q '^cluster_known_nodes:1.$'; then
    # shellcheck disable=SC2086
    redis-cli --user cluster --no-auth-warning --cluster create $NODES --cluster-replicas 1 --cluster-yes || true
  fi
  sleep 1
done
