"""Progress bars drawn on a terminal's standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TimeElapsedColumn
from rich.text import Text

from evaluator.data.issues import plain

# More than this are bytes, which nobody counts.
_MOST_COUNTED: Final = 100_000


class TerminalBar:
    """Progress bar that is seen."""

    def __init__(self, bars: Progress, start: str) -> None:
        self.bars = bars
        # Text from data goes into a Text, never into markup.
        self._job: TaskID = bars.add_task("", total=None, words=Text(plain(start)))
        self._begun = False

    def __call__(self, text: str) -> None:
        """Begin the next job, whose length is not known yet; the one before is done."""
        if self._begun:
            self.end()
            self._job = self.bars.add_task("", total=None, words=Text(plain(text)))
        else:
            self.bars.update(self._job, words=Text(plain(text)))
        self._begun = True

    def count(self, done: int, total: int) -> None:
        """Show how much of the present job is done."""
        self.bars.update(self._job, completed=done, total=total)

    def end(self) -> None:
        """Mark the last job as done."""
        total = next(task.total for task in self.bars.tasks if task.id == self._job) or 1
        self.bars.update(self._job, completed=total, total=total)


class _Words(ProgressColumn):
    def render(self, task: Task) -> Text:
        words: Text = task.fields["words"]
        return words


class _Done(ProgressColumn):
    """How much is done: pages and files are counted, bytes are a share of all of them."""

    def render(self, task: Task) -> Text:
        if not task.total:
            return Text("")
        if task.total > _MOST_COUNTED:
            return Text(f"{task.completed / task.total:.0%}", style="progress.download")
        return Text(f"{task.completed:,.0f}/{task.total:,.0f}", style="progress.download")


@contextlib.contextmanager
def terminal_bars(start: str) -> Iterator[TerminalBar]:
    """Yield bars on standard error, one for each job; all are gone when it ends."""
    console = Console(stderr=True, markup=False, highlight=False)
    columns = (_Words(), BarColumn(bar_width=32), _Done(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        bar = TerminalBar(bars, start)
        yield bar
        bar.end()
