# The benchmark's client and its plots: python -m bench, python -m plots. Needs a base image with Python 3.13 and venv.
ARG BASE_IMAGE=python:3.13-slim-trixie

FROM ${BASE_IMAGE} AS build
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never VIRTUAL_ENV=/opt/venv
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 \
    && /opt/uv/bin/uv venv --quiet /opt/venv
COPY docker/requirements /requirements
RUN --mount=type=cache,target=/root/.cache/uv /opt/uv/bin/uv pip install --quiet --no-deps --require-hashes -r /requirements/client.txt \
    && find /opt/venv -type d -name tests -prune -exec rm -r {} +
# Only the SDK's own custom loss (bench's sdk_custom path) needs torch on the client; any value of CLIENT_TORCH puts it in.
ARG CLIENT_TORCH=
ARG TORCH_INDEX_URL=
RUN --mount=type=cache,target=/root/.cache/uv if [ -n "$CLIENT_TORCH" ]; then \
    UV=/opt/uv/bin/uv TORCH_INDEX_URL=$TORCH_INDEX_URL sh /requirements/install-torch.sh; fi
COPY docker/server/make_tiny_qwen3.py /tmp/
COPY docker/server/tiny_qwen3/merges.txt /tmp/tiny_qwen3/
RUN python3 /tmp/make_tiny_qwen3.py --tokenizer-only /models/tiny-qwen3
COPY docker/client/as_owner.py /opt/as_owner.py
COPY bench /app/bench
COPY plots /app/plots
# Bytecode for a quick start under a read-only root; not for what is never imported here, such as transformers' hundreds of models.
RUN /opt/venv/bin/python -m compileall -q -x '/transformers/models/(?!auto|qwen)' /opt/venv/lib /app

FROM ${BASE_IMAGE} AS client
LABEL org.opencontainers.image.title="gspo-bench client" \
      org.opencontainers.image.description="Times a fused GSPO loss against the two-pass round trip, and draws the result" \
      org.opencontainers.image.licenses="MIT AND Apache-2.0 AND BSD-3-Clause AND MPL-2.0 AND PSF-2.0"
COPY LICENSE NOTICE /licenses/
RUN groupadd --gid 1000 bench && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bench \
    && install -d -m 1777 /results /cache /cache/huggingface
COPY --from=build /opt/venv /opt/venv
COPY --from=build /models /models
COPY --from=build /opt/as_owner.py /opt/as_owner.py
COPY --from=build /app /app
# Everything that a run writes goes to /results, /cache or /tmp, so that the root can be read-only and the user any.
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    HF_HOME=/cache/huggingface \
    MPLBACKEND=Agg \
    MPLCONFIGDIR=/tmp/mpl \
    TINKER_TELEMETRY=0 \
    TRANSFORMERS_VERBOSITY=error \
    PYTHONPATH=/app \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /app
USER bench
ENTRYPOINT ["python", "/opt/as_owner.py"]
CMD ["bench", "--help"]
