# The SkyRL Tinker server. Targets: cpu (JAX backend, with a small model of its own), cuda (FSDP backend and vLLM, for NVIDIA GPUs).
# Needs of the base image: Python 3.13 with venv, and Debian's apt for the cuda target's C compiler and the tests' browser.
ARG BASE_IMAGE=python:3.13-slim-trixie

FROM ${BASE_IMAGE} AS runtime
LABEL org.opencontainers.image.title="gspo-bench server" \
      org.opencontainers.image.description="SkyRL 0.4.0's Tinker API server, started without uv"
COPY LICENSE NOTICE /licenses/
RUN groupadd --gid 1000 bench && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin bench \
    && install -d -o bench -g bench -m 1777 /cache /cache/huggingface
# Everything that a run writes goes to /tmp or /cache, so that the root can be read-only.
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/tmp \
    HF_HOME=/cache/huggingface \
    XDG_CACHE_HOME=/tmp/.cache \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
VOLUME /cache
EXPOSE 8000
STOPSIGNAL SIGTERM

FROM ${BASE_IMAGE} AS build
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 VIRTUAL_ENV=/opt/venv
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 \
    && /opt/uv/bin/uv venv --quiet /opt/venv
COPY docker/requirements /requirements

FROM build AS packages-cpu
RUN --mount=type=cache,target=/root/.cache/uv /opt/uv/bin/uv pip install --quiet --no-deps --require-hashes -r /requirements/server-cpu.txt

FROM packages-cpu AS build-cpu
COPY docker/server /opt/server
RUN /opt/venv/bin/python -m compileall -q /opt/server && /opt/venv/bin/python /opt/server/make_tiny_qwen3.py /models/tiny-qwen3

FROM runtime AS cpu
# Of this project and of what is in /opt/venv; each package's own text is beside its code.
LABEL org.opencontainers.image.licenses="MIT AND Apache-2.0 AND BSD-3-Clause AND MPL-2.0 AND PSF-2.0"
COPY --from=build-cpu /opt/venv /opt/venv
COPY --from=build-cpu /models /models
COPY --from=build-cpu /opt/server /opt/server
ENV JAX_PLATFORMS=cpu
USER bench
ENTRYPOINT ["python", "/opt/server/serve.py", "--host", "0.0.0.0"]
CMD ["--model", "/models/tiny-qwen3", "--backend", "jax", "--preset", "cpu"]

# What `make test` runs in: the CPU server's packages with the client's, the tests' and torch, and a browser.
FROM packages-cpu AS test
# The browser in which the tests open pages.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null && rm -rf /var/lib/apt/lists/*
ARG TORCH_INDEX_URL=
RUN --mount=type=cache,target=/root/.cache/uv /opt/uv/bin/uv pip install --quiet --no-deps --require-hashes -r /requirements/client.txt -r /requirements/test.txt
RUN --mount=type=cache,target=/root/.cache/uv UV=/opt/uv/bin/uv TORCH_INDEX_URL=$TORCH_INDEX_URL sh /requirements/install-torch.sh
ENV PATH=/opt/venv/bin:$PATH HOME=/tmp JAX_PLATFORMS=cpu MPLBACKEND=Agg MPLCONFIGDIR=/tmp/mpl TINKER_TELEMETRY=0 \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /repo
USER 1000:1000

FROM build AS packages-cuda
RUN --mount=type=cache,target=/root/.cache/uv /opt/uv/bin/uv pip install --quiet --no-deps --require-hashes -r /requirements/server-cuda.txt
# The address of a flash-attn wheel for this Python and torch; without one, a stand-in satisfies SkyRL's import of it.
ARG FLASH_ATTN_WHEEL=
COPY docker/server/flash_attn_absent /flash_attn_absent
RUN --mount=type=cache,target=/root/.cache/uv set -eu; \
    site=$(/opt/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
    if [ -n "$FLASH_ATTN_WHEEL" ]; then /opt/uv/bin/uv pip install --quiet --no-deps "$FLASH_ATTN_WHEEL"; \
    else cp -r /flash_attn_absent "$site/flash_attn" && /opt/venv/bin/python -m compileall -q "$site/flash_attn"; fi

FROM build AS server-cuda
COPY docker/server /opt/server
RUN /opt/venv/bin/python -m compileall -q /opt/server

FROM runtime AS cuda
# NVIDIA's libraries are under terms of its own, which its packages carry; NOTICE says which they are.
LABEL org.opencontainers.image.licenses="MIT AND Apache-2.0 AND BSD-3-Clause AND MPL-2.0 AND PSF-2.0 AND LicenseRef-NVIDIA"
# Triton compiles its launchers with a C compiler while the server runs, and torch.compile, which vLLM uses, may ask for a C++ one.
# libnuma: SkyRL's workers load it by name when they offload a model to the CPU (_set_numa_affinity), as every server that samples does.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends g++ libc6-dev libnuma1 && rm -rf /var/lib/apt/lists/*
COPY --from=packages-cuda /opt/venv /opt/venv
COPY --from=server-cuda /opt/server /opt/server
ENV VLLM_NO_USAGE_STATS=1 VLLM_CACHE_ROOT=/cache/vllm TRITON_CACHE_DIR=/cache/triton TORCHINDUCTOR_CACHE_DIR=/cache/inductor \
    RAY_USAGE_STATS_ENABLED=0 RAY_TMPDIR=/tmp/ray WANDB_MODE=disabled \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER bench
ENTRYPOINT ["python", "/opt/server/serve.py", "--host", "0.0.0.0"]
CMD ["--model", "Qwen/Qwen3-0.6B", "--backend", "fsdp", "--preset", "l4"]
