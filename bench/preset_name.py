"""What a server's preset is called: with what was set over it, where the server tells."""

from bench.json_object import JsonObject
from bench.numbers import plural

LONGEST_NAME = 40  # of a lone setting that is named rather than counted


def preset_name(server: JsonObject) -> str | None:
    """The preset's name, and that it was changed: "stock with 2 settings changed"; None for a server without one.

    Raises:
        InputError: a value is not what a server tells.
    """
    name, changed = server.text("preset"), server.texts("preset_changed")
    if not name or not changed:
        return name
    what = changed[0] if len(changed) == 1 and len(changed[0]) <= LONGEST_NAME else plural(len(changed), "setting")
    return f"{name} with {what} changed"
