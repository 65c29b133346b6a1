"""Lets `python SCRIPT` work with any Python: it goes on in the one that has the pinned packages."""

import os
import sys
from pathlib import Path

VENV = Path(__file__).resolve().parent / "target" / "venv"
if Path(sys.prefix).resolve() != VENV:
    python = str(VENV / "bin" / "python")
    if not os.path.exists(python):
        sys.exit(f"{python} is not there: run build.sh first")
    print(f"going on with {python}", file=sys.stderr)
    os.execv(python, [python, *sys.argv])
