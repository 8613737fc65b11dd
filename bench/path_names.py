"""The names of the paths, apart from their code, so that what only names them need not load the SDK."""

NATIVE = "native_1pass"
TWO_PASS = "custom_2pass"
SDK_CUSTOM = "sdk_custom"
CONTROL = "native_1pass_control"


def label(name: str) -> str:
    """What a path is called in sentences."""
    return {NATIVE: "fused", TWO_PASS: "two-pass", SDK_CUSTOM: "SDK custom", CONTROL: "control"}.get(name, name)
