"""What a notebook needs beside the package: pictures that stay when no kernel runs, and sliders.

A picture leaves as two: Plotly's, which moves, and a still one, which every reader of notebooks can
show. ``python -m dpcore.figures.notebook FILES`` runs notebooks and saves them with the still ones
alone, so that they stay small.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dpcore.figures.static_svg import alt_text, still

if TYPE_CHECKING:
    import plotly.graph_objects as go

Choice = TypeVar("Choice")

SAVED_KINDS = ("image/svg+xml", "text/markdown", "text/plain")  # kinds of output that are saved
SLICE = 1.0  # seconds of one wait for a kernel


def fast() -> bool:
    """Whether ``DPCORE_FAST=1`` asks for the short version."""
    return os.environ.get("DPCORE_FAST") == "1"


def effort(full: Choice, quick: Choice) -> Choice:
    """The first, or in the short version the second."""
    return quick if fast() else full


def lasted() -> str:
    """How long the notebook has computed, whatever else the machine did, and in which version."""
    words = "in the fast version (DPCORE_FAST=1)" if fast() else "in the full version"
    return f"{time.process_time():.0f} seconds of processor time, {words}."


def show(figure: go.Figure) -> None:
    """Show a Plotly figure, with a still picture of it for readers where nothing runs."""
    from IPython.display import display

    bundle: dict[str, Any] = {"image/svg+xml": still(figure), "text/plain": alt_text(figure)}
    if _live():
        bundle["application/vnd.plotly.v1+json"] = json.loads(figure.to_json())
    display(bundle, raw=True)


def play(draw: Callable[..., go.Figure], **sliders: Sequence[Any]) -> None:
    """Show ``draw(**values)`` with one slider for each name over its values, from the middle one.

    The picture follows the thumb: each position is drawn when the thumb first meets it, and kept.
    Where no kernel runs, or the package ipywidgets is absent, the picture at the middle stays.
    """
    from IPython.display import display

    middle = {name: values[len(values) // 2] for name, values in sliders.items()}
    widgets = _widgets()
    if widgets is None:
        show(draw(**middle))
        return
    handles = {
        name: widgets.SelectionSlider(
            options=[(_cell(value), value) for value in values],
            value=middle[name],
            description=name,
            continuous_update=True,
        )
        for name, values in sliders.items()
    }
    picture = widgets.HTML()

    @cache
    def drawn(*values: Any) -> str:
        return still(draw(**dict(zip(handles, values, strict=True))))

    def follow(_: object = None) -> None:
        picture.value = drawn(*(handle.value for handle in handles.values()))

    for handle in handles.values():
        handle.observe(follow, "value")
    follow()
    display(widgets.VBox([*handles.values(), picture]))


def tabulate(rows: Sequence[dict[str, Any]]) -> None:
    """Show rows as a table that every reader of notebooks can show."""
    from IPython.display import display

    text = markdown_table(rows)
    display({"text/markdown": text, "text/plain": text}, raw=True)


def markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a Markdown table; numbers to four figures.

    >>> print(markdown_table([{"way": "exact", "epsilon": 1.23456}]))
    | way | epsilon |
    | --- | --- |
    | exact | 1.235 |
    """
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([_cell(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def execute(path: Path, *, timeout: float = 600.0) -> Any:
    """Run a notebook from its own folder in a new kernel; returns it with its outputs.

    Raises what the notebook raises. Needs the packages of the extra ``notebooks``.
    """
    import nbformat
    from nbclient import NotebookClient

    class Client(NotebookClient):  # type: ignore[misc]
        """Looks for answers again and again."""

        async def async_start_new_kernel_client(self) -> Any:
            channels = await super().async_start_new_kernel_client()
            channels.shell_channel.get_msg = in_slices(channels.shell_channel.get_msg)
            return channels

    book = nbformat.read(path, as_version=4)
    Client(book, timeout=timeout, resources={"metadata": {"path": path.parent}}).execute()
    return book


def in_slices(ask: Callable[..., Any]) -> Callable[..., Any]:
    """``ask(timeout)`` as many short waits instead of a long one.

    A widget's output makes nbclient send on the very socket on which it waits for the kernel's
    answer. ZeroMQ signals an arrival once; where the sending takes the signal, the wait sleeps
    beside an answer that is there, until its time is over. A new wait looks first.
    """
    from queue import Empty

    async def sliced(timeout: float | None = None) -> Any:
        left = math.inf if timeout is None else timeout
        while left > SLICE:
            try:
                return await ask(timeout=SLICE)
            except Empty:
                left -= SLICE
        return await ask(timeout=left)

    return sliced


def lightened(book: Any) -> Any:
    """The notebook with the outputs that are small and that every reader shows."""
    book.metadata.pop("widgets", None)
    for cell in (cell for cell in book.cells if cell.cell_type == "code"):
        cell.metadata.pop("execution", None)
        cell.execution_count = None
        cell.outputs = [light for light in map(_light, cell.outputs) if light is not None]
    return book


def _light(output: Any) -> Any:
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    output.data = {kind: output.data[kind] for kind in SAVED_KINDS if kind in output.data}
    if "execution_count" in output:
        output.execution_count = None
    return output if output.data else None


def _live() -> bool:
    """Whether somebody may look at the picture while the kernel runs."""
    return os.environ.get("DPCORE_STILL") != "1"


def interactive() -> bool:
    """Whether sliders can be moved: a kernel runs, and ipywidgets is there."""
    return _widgets() is not None


def _widgets() -> Any:
    if not _live():
        return None
    try:
        import ipywidgets
    except ImportError:
        return None
    return ipywidgets


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return str("" if value is None else value).replace("|", "\\|")


def main(paths: Sequence[str]) -> None:
    """Run notebooks and save each with light outputs, as it would read without a kernel."""
    import nbformat

    os.environ["DPCORE_STILL"] = "1"
    for path in map(Path, paths):
        began = time.perf_counter()
        book = lightened(execute(path, timeout=3600.0))
        nbformat.write(book, path)
        print(f"{path.name}: {time.perf_counter() - began:.0f} seconds")


if __name__ == "__main__":
    main(sys.argv[1:])
