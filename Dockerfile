# An image with the executable, the C library, and nothing else: no shell, no package manager, no root.
FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run build
# Copies the libraries that the program and its database engine load, to the paths where they expect them.
RUN mkdir -p /image/usr/local/bin /image/etc /image/tmp /image-data \
 && chmod 1777 /image/tmp && chmod 700 /image-data \
 && cp dist/bodega /image/usr/local/bin/ \
 && ldd dist/bodega node_modules/@libsql/linux-*-gnu/index.node | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' \
  | sort -u | xargs -I '{}' cp -L --parents '{}' /image \
 && echo 'bodega:x:10001:10001::/data:/usr/local/bin/bodega' > /image/etc/passwd \
 && echo 'bodega:x:10001:' > /image/etc/group \
 && echo 'hosts: files dns' > /image/etc/nsswitch.conf

FROM scratch
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /image-data /data
ENV PATH=/usr/local/bin BODEGA_DATA_DIR=/data BODEGA_HOST=0.0.0.0 BODEGA_PORT=8080
WORKDIR /data
VOLUME /data
EXPOSE 8080
USER 10001:10001
HEALTHCHECK --interval=30s --timeout=6s --start-period=15s CMD ["bodega", "health", "-q"]
ENTRYPOINT ["bodega"]
CMD ["serve"]
