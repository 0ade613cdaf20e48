"""What a test made is undone when it ends, however it ends: a stack of undo steps."""

import atexit
import signal
import sys

_steps = []


def push(step):
    """Registers `step()`, to be called once, after everything that is pushed later."""
    _steps.append(step)


def mark():
    """The present height of the stack, for unwind()."""
    return len(_steps)


def unwind(height=0):
    """Calls the steps above `height`, newest first. A failing step never stops the others."""
    while len(_steps) > height:
        step = _steps.pop()
        try:
            step()
        except Exception as error:  # pylint: disable=broad-except
            print(f"cleanup: {error!r}", file=sys.stderr)


def _leave(number, _frame):
    """A signal ends the test through the normal exit, so that atexit runs."""
    raise SystemExit(f"ended by signal {signal.Signals(number).name}")


def install(timeout_seconds):
    """Makes signals and a time limit of our own end in unwind(): ctest's limit is a SIGKILL."""
    atexit.register(unwind)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, _leave)
    signal.alarm(timeout_seconds)
