# Bun and every package come from bun.lock, by the same set-up as on a developer's machine.
FROM node:22-bookworm-slim AS built
WORKDIR /app
COPY package.json bun.lock bunfig.toml tsconfig.json ./
COPY .ci/*.mjs .ci/tsconfig.client.json ./.ci/
COPY src ./src
RUN node .ci/setup.mjs --build

FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
COPY .ci/*.mjs ./.ci/
RUN node .ci/setup.mjs --production \
  && rm -r node_modules/.cache node_modules/.bin/bunx node_modules/bun/bin/bunx.exe

FROM debian:12-slim
RUN useradd --uid 10001 --user-group --no-create-home --no-log-init repsync \
  && install --directory --owner=repsync --group=repsync /data /backups
WORKDIR /app
COPY package.json bunfig.toml ./
COPY --from=packages /app/node_modules ./node_modules
COPY --from=built /app/dist ./dist
COPY src ./src
ENV NODE_ENV=production \
    PATH=/app/node_modules/.bin:$PATH \
    HOST=0.0.0.0 \
    PORT=3000 \
    STORAGE_URL=sqlite:/data/repsync.db
USER 10001
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["bun", "-e", "const { TLS_CERT_FILE, PORT } = process.env; const tls = { rejectUnauthorized: false }; const reply = await fetch(`http${TLS_CERT_FILE ? 's' : ''}://127.0.0.1:${PORT}/v1/health`, { tls }); process.exit(reply.ok ? 0 : 1);"]
CMD ["bun", "src/app/main.ts"]
