"""When a wait is told of, whatever it is for: one rule, so that no long wait is silent and none fills the screen."""

FIRST_S = 5.0
AT_LEAST_EVERY_S = 60.0


class Telling:
    """Due once a wait has lasted `first_s`, then when it has doubled since it was told of, and at least once a minute."""

    def __init__(self, first_s: float = FIRST_S) -> None:
        self._next_s = first_s

    def due(self, waited_s: float) -> bool:
        """Whether to say now that the wait has lasted `waited_s`; counts as said then."""
        if waited_s < self._next_s:
            return False
        self._next_s = waited_s + min(waited_s, AT_LEAST_EVERY_S)
        return True
