"""Reports: tables for the terminal and data for programs."""

from __future__ import annotations
