# The gateway as an image, with the conformance kit, without other tests and tools.
#   SANDBOX=true        adds the embedded upstream, to try the gateway without providers
#   SPEECH_ENGINE=true  adds the sandbox's speech engine, which is under the GPL, and the sandbox
ARG NODE_VERSION=26.10.0

FROM node:${NODE_VERSION}-bookworm-slim AS install
ARG SANDBOX=false
ARG SPEECH_ENGINE=false
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY client/console/package.json client/console/
COPY openapi/tools/package.json openapi/tools/
COPY server/sandbox/package.json server/sandbox/
COPY test/package.json test/
COPY test/conformance/package.json test/conformance/
# Optional are the Node of package.json, for which this image has its own, and the speech engine.
RUN case "$SANDBOX $SPEECH_ENGINE" in \
      "false false") set -- --omit=optional ;; \
      "true false") set -- --workspace=@unigate/sandbox --omit=optional ;; \
      "true true" | "false true") set -- --workspace=@unigate/sandbox ;; \
      *) echo "SANDBOX and SPEECH_ENGINE must be true or false" >&2; exit 1 ;; \
    esac \
    && npm ci --ignore-scripts --no-audit --no-fund --omit=dev --include-workspace-root \
      --workspace=@unigate/conformance "$@" \
    && rm -rf node_modules/node-linux-* node_modules/.bin/node

# The documentation and the console.
FROM node:${NODE_VERSION}-bookworm-slim AS site
WORKDIR /app
COPY package.json package-lock.json .npmrc CHANGELOG.md ./
COPY client/package.json client/
COPY client/console/package.json client/console/
COPY openapi/tools/package.json openapi/tools/
COPY server/sandbox/package.json server/sandbox/
COPY test/package.json test/
COPY test/conformance/package.json test/conformance/
RUN npm ci --ignore-scripts --no-audit --no-fund \
      --workspace=@unigate/contract-tools --workspace=@unigate/console --workspace=@unigate/client
COPY client client
COPY generated generated
COPY openapi openapi
COPY server/settings server/settings
RUN node openapi/tools/docs/main.ts

FROM node:${NODE_VERSION}-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/node-compile-cache
WORKDIR /app
COPY --from=install /app/node_modules node_modules
COPY package.json LICENSE ./
COPY generated generated
COPY --from=site /app/generated/site generated/site
COPY server server
# The conformance kit, which operators run from the console.
COPY client client
COPY openapi/tools/document.ts openapi/tools/
COPY test/conformance test/conformance
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=2 CMD ["node", "server/probe.ts"]
STOPSIGNAL SIGTERM
# Without a shell in between: node is the first process, and SIGTERM reaches it.
CMD ["node", "--max-semi-space-size=32", "--external-memory-accounted-in-global-limit", "--import=./server/compile-cache.js", "server/main.ts"]
