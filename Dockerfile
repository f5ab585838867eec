# One image for the code location, the web server and the daemon; docker-compose.yml says which one a container is.

FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv /app/.venv
COPY constraints.txt hashes.txt hashes-dev.txt ./
RUN .venv/bin/pip install -c constraints.txt --upgrade pip
# Everything but torch: wheels of the files whose SHA-256 is known, and of no others. The launchers are in hashes-dev.txt.
RUN .venv/bin/pip wheel --require-hashes --no-deps --build-constraint constraints.txt --wheel-dir /wheels -r hashes.txt -r hashes-dev.txt
# This index has PyTorch without CUDA, 2 GB smaller; the version is the same.
RUN .venv/bin/pip wheel --no-deps -c constraints.txt --index-url https://download.pytorch.org/whl/cpu \
        --wheel-dir /wheels torch
COPY pyproject.toml README.md LICENSE ./
COPY sourcebook/__init__.py sourcebook/__init__.py
# Of these wheels, those that the pipeline and the launchers need; no index is asked again.
RUN .venv/bin/pip install --no-index --find-links /wheels -c constraints.txt -e '.[pipeline,launchers]'

FROM python:3.12-slim
# Chromium renders the pages of web sites that are made by scripts; without it such pages fail, and say so.
RUN apt-get update && apt-get install --yes --no-install-recommends chromium git openssh-client && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --home-dir /var/lib/sourcebook sourcebook \
    && install -d -o sourcebook -g sourcebook /var/lib/dagster /var/lib/dagster/storage
WORKDIR /app
COPY --from=build /app/.venv /app/.venv
COPY . /app
# The processes may not write here, and would compile every module at each start.
RUN .venv/bin/python -m compileall -q assets orchestration resources sensors sourcebook
COPY orchestration/dagster.yaml /var/lib/dagster/dagster.yaml
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DAGSTER_HOME=/var/lib/dagster \
    SOURCEBOOK_HOME=/var/lib/sourcebook \
    HF_HOME=/var/lib/sourcebook/models \
    SOURCEBOOK_CHROMIUM_SANDBOX=off
USER sourcebook
EXPOSE 3000 4000
HEALTHCHECK --interval=30s --timeout=20s --start-period=60s --retries=3 \
    CMD ["dagster", "api", "grpc-health-check", "-p", "4000"]
CMD ["python", "-m", "orchestration.dagster_process", "dagster", "api", "grpc", \
     "-h", "0.0.0.0", "-p", "4000", "-m", "orchestration.definitions", "--location-name", "sourcebook"]
