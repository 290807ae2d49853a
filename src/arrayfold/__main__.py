"""`python -m arrayfold`."""

from __future__ import annotations

from arrayfold.cli.main import main

if __name__ == "__main__":
    main()
