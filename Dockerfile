# The gateway for production. REDIS_URL and DATABASE_URL name the stores; compose.yaml starts all of it.
# For several architectures: `docker buildx build --platform linux/amd64,linux/arm64 …`.

# By digest where you know it: `--build-arg BUN_IMAGE=oven/bun:1.4.5-slim@sha256:…`, as `deploy/pin-images.sh` tells it.
ARG BUN_IMAGE=oven/bun:1.4.5-slim

# The dashboard's pages, with packages that only a browser needs. They are the same on every architecture.
FROM --platform=$BUILDPLATFORM ${BUN_IMAGE} AS pages
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
RUN bun install --frozen-lockfile --ignore-scripts
COPY tsconfig.json ./
COPY src src
RUN bun src/boot/dashboard-assets/prebuild.ts

# What a server runs; the peers that its packages name are types and browser packages. What is optional are servers for a first try,
# an embedded Postgres and a simulated provider, which production refuses.
FROM ${BUN_IMAGE} AS packages
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
RUN bun install --frozen-lockfile --production --omit=peer --omit=optional

FROM ${BUN_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=pages /app/.cache .cache
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY config config
COPY deploy deploy
COPY docs/guide docs/guide
COPY src src
# `docker compose exec gateway1 svc admin …`
RUN mkdir /data && chown bun:bun /data && ln -s /app/deploy/svc /usr/local/bin/svc

# Bun reads the limit of open requests to providers when it starts, so it cannot be set any later.
ENV NODE_ENV=production \
    BUN_CONFIG_MAX_HTTP_REQUESTS=65535 \
    DATA_DIR=/data
USER bun
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`)).ok ? 0 : 1)"]
CMD ["bun", "src/main.ts"]
