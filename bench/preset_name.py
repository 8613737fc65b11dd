"""What a server's preset is called: with what was set over it, where the server tells."""

from bench.json_object import JsonObject

LONGEST_NAME = 40  # of a lone setting that is named rather than counted


def preset_name(server: JsonObject) -> str | None:
    """The preset's name, and that it was changed: "stock with 2 settings changed"; None for a server without one.

    Raises:
        InputError: a value is not what a server tells.
    """
    name, changed = server.text("preset"), server.texts("preset_changed")
    if not name or not changed:
        return name
    alone = len(changed) == 1
    what = changed[0] if alone and len(changed[0]) <= LONGEST_NAME else f"{len(changed)} {'setting' if alone else 'settings'}"
    return f"{name} with {what} changed"
