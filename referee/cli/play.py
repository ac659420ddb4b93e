"""`referee play`: a person at the terminal."""


def play_command() -> None:
    """Play a game yourself."""
    raise NotImplementedError
