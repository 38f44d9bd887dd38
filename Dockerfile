# syntax=docker/dockerfile:1

# Build: the full image has the compiler that better-sqlite3 needs when no prebuilt binary fits.
FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.package.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund && rm dist/.tsbuildinfo

# Run: no compiler, no package manager at work, not root.
FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="Inbound channel gateway: email, SMS and web chat into a customer-support platform" \
      org.opencontainers.image.licenses="Apache-2.0"
# The console has to be reached from outside of the container: publish 8081 to loopback only.
ENV NODE_ENV=production \
    SLUICE_DATA_DIR=/data \
    SLUICE_ADMIN_HOST=0.0.0.0 \
    SLUICE_LOG_FORMAT=json
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY LICENSE ./
RUN install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 2525 8080 8081
# Not /readyz: an orchestrator that restarts an unhealthy container would stop the deliveries that
# continue while the disk is full.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8081/healthz',{signal:AbortSignal.timeout(4000)}).then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
