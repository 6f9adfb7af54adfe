# Pincite's roles in one image: web (the default), worker, scheduler, and every other command of manage.py.
#   docker build --tag pincite .
#   docker run --env-file pincite.env --publish 8000:8000 pincite
#   docker run --env-file pincite.env pincite worker
# It needs a database (DATABASE_URL), shared files of all roles (PINCITE_S3_BUCKET, or a volume at /data/media)
# and one PINCITE_SECRET_KEY: docs/deployment.md.

FROM node:24-slim AS browser
WORKDIR /pincite
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-progress

FROM python:3.12-slim AS packages
WORKDIR /pincite
COPY requirements.lock requirements-cluster.lock ./
RUN python -m venv .venv \
 && .venv/bin/python -m pip install --no-deps --require-hashes --no-cache-dir \
    --requirement requirements.lock --requirement requirements-cluster.lock

FROM python:3.12-slim
RUN useradd --system --uid 10001 --home-dir /data --create-home pincite
WORKDIR /pincite
COPY --from=packages /pincite/.venv .venv
COPY --from=browser /pincite/node_modules node_modules
COPY . .
ENV PINCITE_VAR=/data PINCITE_HOST=0.0.0.0 PINCITE_LOG_JSON=1 PYTHONUNBUFFERED=1
RUN mkdir staticfiles && PINCITE_SECRET_KEY=while-building-only .venv/bin/python -W ignore manage.py collectstatic --noinput --verbosity 0
USER pincite
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
# Health of the web role; that of workers is their heartbeat, in /readyz.
HEALTHCHECK --interval=15s --timeout=30s --start-period=600s --retries=5 CMD [".venv/bin/python", "-c", \
  "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000); c.request('GET', '/healthz'); exit(c.getresponse().status >= 500)"]
ENTRYPOINT [".venv/bin/python", "-W", "ignore", "manage.py"]
CMD ["web", "--port", "8000"]
