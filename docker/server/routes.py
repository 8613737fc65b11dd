"""Read-only routes beside SkyRL's own: what this server is, who holds a model on it, when it did what. They name no secret."""

import os
import time
from pathlib import Path
from typing import Any

import requests_record
from engine_spans import SPANS, SpanReader
from fastapi import APIRouter, Request
from gpu_memory import PeakMemory
from machine import environment, gpus_from_nvml
from placement import Placement
from tenants import tenants


def router(preset: str | None, preset_changed: list[str], notes: list[str], placement: Placement) -> APIRouter:
    """The routes, for SkyRL's app, whose state holds the engine's config and the database."""
    api = APIRouter(prefix="/gspo-bench")
    peak = PeakMemory(gpus_from_nvml)
    peak.start()
    spans = SpanReader(Path(os.environ[SPANS]))

    @api.get("/environment")
    def get_environment(request: Request) -> dict[str, Any]:
        return environment(request.app.state.engine_config, preset, preset_changed, notes, peak, placement)

    @api.get("/tenants")
    async def get_tenants(request: Request) -> list[dict[str, Any]]:
        config = request.app.state.engine_config
        return await tenants(request.app.state.db_engine, config.session_timeout_sec, config.session_cleanup_interval_sec)

    @api.get("/clock")
    async def get_clock() -> dict[str, float]:
        return {"now_s": time.time()}

    @api.get("/requests")
    async def get_requests(request: Request, model_id: str, after: int = 0) -> list[dict[str, Any]]:
        return await requests_record.requests(request.app.state.db_engine, spans, model_id, after)

    return api
