#!/bin/sh
# Says by digest which image each tag of .env.example, or of the environment, is today: lines for .env. Asks the registry by docker.
set -eu
here=$(dirname "$0")
sed -n 's/^# *\([A-Z]*_IMAGE\)=\(.*\)/\1 \2/p' "$here/../.env.example" | while read -r name usual; do
  image=$(printenv "$name" || printf '%s' "$usual")
  case $image in *@sha256:*) printf '%s=%s\n' "$name" "$image"; continue ;; esac
  digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image")
  case $digest in sha256:*) ;; *) echo "no digest of $image: $digest" >&2; exit 1 ;; esac
  printf '%s=%s@%s\n' "$name" "$image" "$digest"
done
