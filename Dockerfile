# The gateway as an image: small, without a shell's worth of tools of its own, and not as root.
#
#   docker build --build-arg BASE=node:24-bookworm-slim -t swiss-gateway .
#
# `helm` (3 or 4, for the image's platform) is taken from the build context: put the binary beside this file.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY schema ./schema
COPY resolvers ./resolvers
COPY services ./services
COPY loops ./loops
COPY subscriptions ./subscriptions
COPY server ./server
COPY sandbox ./sandbox
RUN npm run --silent build && find dist -name '*.map' -delete
RUN npm prune --omit=dev --no-audit --no-fund

FROM ${BASE}
ENV NODE_ENV=production
# The runs lie in a SQLite file there when no PostgreSQL is named; helm keeps its caches there as well.
ENV HOME=/var/lib/swiss
RUN install -d -o 65532 -g 65532 /var/lib/swiss
COPY package.json LICENSE /opt/swiss/
COPY --from=build /src/node_modules /opt/swiss/node_modules
COPY --from=build /src/dist /opt/swiss/dist
COPY helm /usr/local/bin/helm
RUN chmod 0755 /usr/local/bin/helm
USER 65532:65532
WORKDIR /var/lib/swiss
EXPOSE 4000
ENTRYPOINT ["node", "/opt/swiss/dist/server/main.js"]
CMD ["serve"]
