# Production image: `docker compose build`. Holds no secret and no data.
FROM python:3.11.13-slim-bookworm AS packages
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary :all: -r requirements.txt

FROM python:3.11.13-slim-bookworm
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DATA_DIR=/data \
    STATIC_ROOT=/srv/static \
    WEB_BIND=0.0.0.0:8000 \
    WEB_ACCESS_LOG=-
RUN useradd --system --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin lineup && chmod 700 /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /srv/lineup
COPY . .
# The key that collecting needs is thrown away with its folder.
RUN DATA_DIR=/tmp/collecting python manage.py collectstatic --no-input --verbosity 0 && rm -rf /tmp/collecting
USER lineup
VOLUME /data
EXPOSE 8000
CMD ["gunicorn", "config.wsgi"]
