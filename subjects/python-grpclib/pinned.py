"""Lets `python SCRIPT` work with any Python: it goes on in the one that has the pinned packages."""

import os
import sys

VENV = os.path.join(os.path.dirname(os.path.realpath(__file__)), "target", "venv")
if os.path.realpath(sys.prefix) != VENV:
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        sys.exit(f"{python} is not there: run build.sh first")
    print(f"going on with {python}", file=sys.stderr)
    os.execv(python, [python, *sys.argv])
