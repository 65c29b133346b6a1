"""Lets `python SCRIPT` work with any Python: it goes on in the one that has the pinned packages."""

import os
import sys

# Of the folder in which this file is found, not of the one that a link leads to.
FOLDER = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.realpath(os.path.join(FOLDER, "target", "venv"))
if os.path.realpath(sys.prefix) != VENV:
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        sys.exit(f"{python} is not there: run build.sh first")
    print(f"going on with {python}", file=sys.stderr)
    os.execv(python, [python, *sys.argv])
