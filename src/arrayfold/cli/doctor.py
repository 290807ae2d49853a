"""`arrayfold doctor`: what is there, and what is lost without the rest."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from arrayfold.cli.console import Console
from arrayfold.cli.options import AsJson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from arrayfold.run.doctor import Finding


def doctor(as_json: AsJson = False) -> None:
    """Say which compilers and packages there are, and what is lost without those that are missing."""
    from arrayfold.run.doctor import examine

    findings = examine()
    Console(as_json).result(
        lambda: {"findings": [asdict(finding) for finding in findings]}, lambda: _table(findings)
    )


def _table(findings: Sequence[Finding]) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from arrayfold.report.plain_table import PlainTable

    table = PlainTable("what", "found", "without it", "how to get it")
    for finding in findings:
        if finding.found:
            table.add_row(finding.name, Text(finding.found, style="green"), "", "")
        else:
            table.add_row(finding.name, Text("no", style="yellow"), finding.without, finding.cure)
    is_all = all(finding.found for finding in findings)
    return Group(
        table, Text("nothing is missing" if is_all else "the analysis and its proofs need none of those")
    )
