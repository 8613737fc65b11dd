"""Two read-only routes beside SkyRL's own: what this server is, and who holds a model on it. They name no secret."""

from typing import Any

from fastapi import APIRouter, Request
from gpu_memory import PeakMemory
from machine import environment, gpus_from_nvml
from tenants import tenants


def router(preset: str | None, notes: list[str]) -> APIRouter:
    """The two routes, for SkyRL's app, whose state holds the engine's config and the database."""
    api = APIRouter(prefix="/gspo-bench")
    peak = PeakMemory(gpus_from_nvml)
    peak.start()

    @api.get("/environment")
    def get_environment(request: Request) -> dict[str, Any]:
        return environment(request.app.state.engine_config, preset, notes, peak)

    @api.get("/tenants")
    async def get_tenants(request: Request) -> list[dict[str, Any]]:
        config = request.app.state.engine_config
        return await tenants(request.app.state.db_engine, config.session_timeout_sec, config.session_cleanup_interval_sec)

    return api
