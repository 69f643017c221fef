# The gateway for production. REDIS_URL and DATABASE_URL name the stores; compose.yaml starts all three.

# By digest where you know it: `--build-arg BUN_IMAGE=oven/bun@sha256:…`.
ARG BUN_IMAGE=oven/bun:1.4.5-slim

FROM ${BUN_IMAGE} AS packages
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY patches patches
RUN bun install --frozen-lockfile --production

FROM ${BUN_IMAGE}
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json bun.lock tsconfig.json ./
COPY config config
COPY deploy deploy
COPY src src
# The pages of the dashboard, which the user below could not write.
RUN bun src/boot/dashboard-assets/prebuild.ts
RUN mkdir /data && chown bun:bun /data

# Bun reads the limit of open requests to providers when it starts, so it cannot be set any later.
ENV NODE_ENV=production \
    BUN_CONFIG_MAX_HTTP_REQUESTS=65535 \
    DATA_DIR=/data
USER bun
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
  CMD ["bun", "-e", "process.exit((await fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`)).ok ? 0 : 1)"]
CMD ["bun", "src/main.ts"]
