"""The machine, as the checks ask it: everything that touches something outside this process is here, so that tests can stand in."""

import errno
import http.client
import json
import shutil
import socket
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from bench.doctor import commands
from bench.doctor.commands import Output
from bench.doctor.settings import Settings

GIB = 1024**3
HUB_LIMIT_S = 10.0


class World:
    """This machine, and the checkout at root."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, command: list[str], limit_s: float = 15.0) -> Output:
        """Runs command; see commands.run."""
        return commands.run(command, limit_s)

    def which(self, program: str) -> str:
        """The program's real path, '' when it is not on PATH."""
        found = shutil.which(program)
        return found if found and "/snap/" in found else str(Path(found).resolve()) if found else ""

    def free_gib(self, folder: str) -> float | None:
        """Free space of folder's file system, None when it cannot be seen from here."""
        try:
            return shutil.disk_usage(folder).free / GIB
        except OSError:
            return None

    def has_folder(self, path: str) -> bool:
        """Whether this machine has a folder of that name."""
        try:
            return (self.root / path).expanduser().is_dir()
        except (OSError, RuntimeError, ValueError):  # such as a name that is too long, or a home that is none
            return False

    def port_is_free(self, port: int) -> bool:
        """Whether a server could listen on 127.0.0.1:port; a port that only root may take is free when nobody answers there."""
        with socket.socket() as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                server.bind(("127.0.0.1", port))
            except OSError as error:
                return error.errno == errno.EACCES and not self._answers(port)
        return True

    def _answers(self, port: int) -> bool:
        with socket.socket() as client:
            client.settimeout(1)
            return client.connect_ex(("127.0.0.1", port)) == 0

    def has_nvidia_device(self) -> bool:
        """Whether a display or compute device of NVIDIA's is on the PCI bus; Linux only."""
        devices = Path("/sys/bus/pci/devices")
        return any(_reads(device / "vendor", "0x10de") and _reads(device / "class", "0x03") for device in devices.glob("*"))

    def hub_status(self, settings: Settings, model: str) -> tuple[int | None, str]:
        """(HTTP status of the model's config.json on the hub, ''), or (None, why there is none)."""
        address = f"{settings.hub}/{urllib.parse.quote(model)}/resolve/main/config.json"
        headers = {"User-Agent": "gspo-bench-doctor"} | ({"Authorization": f"Bearer {settings.token}"} if settings.token else {})
        try:
            request = urllib.request.Request(address, headers=headers, method="HEAD")
            with urllib.request.build_opener(_Stay).open(request, timeout=HUB_LIMIT_S) as answer:
                return int(answer.status), ""
        except urllib.error.HTTPError as error:
            return error.code, ""
        except urllib.error.URLError as error:
            return None, getattr(error.reason, "strerror", None) or str(error.reason)
        except OSError as error:
            return None, error.strerror or type(error).__name__
        except (ValueError, http.client.HTTPException):
            return None, "no valid answer; is HF_ENDPOINT an address, HF_TOKEN one word?"  # the error's own text may quote the token

    def read(self, path: str) -> str:
        """Text of a file of the checkout, '' when it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def preset_needs(self) -> dict[str, float | None]:
        """GiB of GPU memory by preset, None for a preset that states none."""
        needs: dict[str, float | None] = {}
        for path in sorted((self.root / "docker/server/presets").glob("*.json")):
            try:
                need = json.loads(path.read_text(encoding="utf-8")).get("gpu_memory_gib")
            except (OSError, ValueError, AttributeError):
                continue
            needs[path.stem] = float(need) if isinstance(need, int | float) else None
        return needs


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: that the hub sends one on is answer enough."""

    def redirect_request(self, *args: object) -> None:
        return None


def _reads(path: Path, start: str) -> bool:
    try:
        return path.read_text().startswith(start)
    except OSError:
        return False
