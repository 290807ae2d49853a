"""`python -m arrayfold`."""

from __future__ import annotations

from arrayfold.cli.start import main

if __name__ == "__main__":
    main()
