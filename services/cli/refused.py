"""The command line's own "no"."""


class Refused(Exception):
    """A command cannot be carried out. The message is a sentence that says what to do."""
