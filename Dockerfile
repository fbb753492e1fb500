# The image of the Action: Python, the locked wheels, the program. Built for amd64 and arm64; nothing is fetched when it runs.
ARG BASE=docker.io/library/python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea

FROM ${BASE} AS packages
# Not pinned: strip works on files of this stage only, and git is to be the distribution's newest, with its security fixes.
# hadolint ignore=DL3008
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends binutils git && rm -rf /var/lib/apt/lists/*
COPY requirements/image.txt /tmp/image.txt
RUN python -m venv --without-pip /opt/eval-gate \
 && python -m pip --python /opt/eval-gate/bin/python install --quiet --disable-pip-version-check --no-input --no-cache-dir --no-compile --only-binary :all: --require-hashes -r /tmp/image.txt
# What the program never imports: keys of GitHub Apps, colours for source code, the wheels' own tests and debug symbols.
RUN python -m pip --python /opt/eval-gate/bin/python uninstall --quiet --yes cryptography pygments \
 && find /opt/eval-gate -depth -type d -name tests -path '*/site-packages/*' -exec rm -rf {} + \
 && find /opt/eval-gate -name '*.so' -exec strip --strip-debug {} +

FROM ${BASE} AS whole
COPY --from=packages /opt/eval-gate /opt/eval-gate
# The one program of git: what is asked of it (commits, files of one) is built in, and its libraries are the base's own.
COPY --from=packages /usr/bin/git /usr/local/bin/git
COPY --from=packages /usr/share/doc/git/copyright /usr/share/doc/git/copyright
COPY entrypoint.py LICENSE /app/
COPY evalaction /app/evalaction
COPY action/trim.py /tmp/trim.py
RUN git --version && /opt/eval-gate/bin/python -B /tmp/trim.py

# One layer, so that what was removed does not travel: the whole file system is what this stage is for.
FROM scratch
ARG VERSION=0+local
ARG REVISION=unknown
ARG SOURCE=
LABEL org.opencontainers.image.title="eval-gate" \
      org.opencontainers.image.description="A pull-request gate for evaluations of systems built on language models" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# hadolint ignore=DL3067
COPY --from=whole / /
ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
ENTRYPOINT ["/opt/eval-gate/bin/python", "/app/entrypoint.py"]
