#!/bin/sh
# Makes one cluster of NODES (address:port, by spaces), half of them replicas, where that is not done yet.
set -eu
export REDISCLI_AUTH="${REDIS_CLUSTER_PASSWORD:?}"
first=${NODES%% *}

is_whole() {
  redis-cli --user cluster --no-auth-warning -h "${first%:*}" -p "${first#*:}" cluster info | grep -q '^cluster_state:ok'
}

if is_whole; then exit 0; fi
# Nodes that have met before find each other again; that takes them a moment.
if redis-cli --user cluster --no-auth-warning -h "${first%:*}" -p "${first#*:}" cluster info | grep -q '^cluster_known_nodes:1.$'; then
  # shellcheck disable=SC2086
  redis-cli --user cluster --no-auth-warning --cluster create $NODES --cluster-replicas 1 --cluster-yes
fi
until is_whole; do sleep 1; done
