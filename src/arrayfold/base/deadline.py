"""Work in a process of its own, which ends in time whatever it does.

isl and barvinok are C code that Python cannot interrupt, parts of it count no operations, and some inputs
exhaust their stack. What is found is sent while the work goes on, so that nothing of it is lost.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import gc
import io
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

import islpy as isl

from arrayfold.base.budget import Budget, add_work, work_done
from arrayfold.base.defects import internal
from arrayfold.base.errors import ArrayfoldError, InternalError
from arrayfold.base.late import ReadLate
from arrayfold.base.watchdog import die_with_parent

# Operations that C code does in a second of the processor where it counts any.
_OPERATIONS_OF_C = 750_000
_HEAD = struct.Struct("!cQ")
_TEXTS = (isl.BasicSet, isl.BasicMap, isl.Set, isl.Map, isl.UnionSet, isl.UnionMap, isl.PwAff)
_Answer = TypeVar("_Answer")

_is_child = False


def in_time(
    work: Callable[[Callable[[Any], None]], None],
    budget: Budget,
    *,
    receive: Callable[[Any], None],
    known: Any = None,
) -> str:
    """Do work that sends what it finds; why it was cut short, if it was.

    receive  gets what is sent
    known    data that comes back as the same object where it is sent

    An error of the work is raised here. Without a deadline the work is done in this process.
    """
    if budget.deadline == float("inf") or _is_child or not hasattr(os, "fork"):
        work(receive)
        return ""
    objects = _objects(known)
    child = _Child.start(partial(_send_all, work, {id(one): key for key, one in enumerate(objects)}))
    failures: list[_Failure] = []
    with contextlib.closing(child.answers(budget.deadline)) as answers:
        for kind, data in answers:
            if kind == b"a":
                receive(_Unpickler(data, objects).load())
            elif kind == b"e":
                failures.append(_Unpickler(data, objects).load())
    for failure in failures:
        raise failure.error() from failure.cause()
    return child.ending


def in_parallel(
    works: Sequence[Callable[[Callable[[Any], None]], None]],
    budget: Budget,
    *,
    receive: Callable[[Any], None],
    known: Any = None,
) -> None:
    """Do pieces of work that send what they find, each in a process of its own, all at the same time.

    known  as for `in_time`

    What a process did not send before it ended or the deadline came is missing; its work is not counted here.
    """
    objects = _objects(known)
    numbers = {id(one): key for key, one in enumerate(objects)}
    waiting = {
        child.pipe: (child, bytearray())
        for child in [_Child.start(partial(_send_all, work, numbers)) for work in works]
    }
    children = [child for child, _ in waiting.values()]
    try:
        while waiting:
            left = None if budget.deadline == float("inf") else budget.deadline - time.monotonic()
            ready, _, _ = select.select([*waiting], [], [], left if left is None else max(0.0, left))
            if not ready:
                break
            for pipe in ready:
                piece = os.read(pipe, 1 << 16)
                if not piece:
                    del waiting[pipe]
                    continue
                waiting[pipe][1].extend(piece)
                for kind, data in _frames(waiting[pipe][1]):
                    if kind == b"a":
                        before = work_done()
                        found = _Unpickler(data, objects).load()
                        # Reading isl's text is no work that one process alone would do.
                        add_work(before - work_done())
                        receive(found)
    finally:
        for child in children:
            child.end()


def processors() -> int:
    """How many processes this one may have at work at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def answer_in_time(
    work: Callable[[Callable[[str], None]], _Answer],
    budget: Budget,
    what: str,
    *,
    known: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> _Answer:
    """What the work returns, which says what it does; an error if that is not known in time."""
    found: list[_Answer] = []

    def receive(one: str | tuple[_Answer]) -> None:
        if isinstance(one, str):
            progress(one)
        else:
            found.extend(one)

    ending = in_time(lambda send: send((work(send),)), budget, receive=receive, known=known)
    if not found:
        raise budget.exceeded(what, ending)
    return found[0]


def isolated(work: Callable[[], str], budget: Budget) -> str | None:
    """What the work returns, computed in a process of its own; None if that crashes or costs too much.

    For C code that may crash or counts no operations: there the time of the processor is the measure, which
    does not depend on what else the machine does.
    """
    if not hasattr(os, "fork"):
        return work()
    operations = budget.operations
    child = _Child.start(partial(_send_text, work), operations / _OPERATIONS_OF_C)
    found: list[str] = []
    with contextlib.closing(child.answers(budget.deadline)) as answers:
        found += [data.decode() for kind, data in answers if kind == b"a"]
    if child.ending and operations != float("inf"):
        add_work(int(operations))
    return found[0] if found and not child.ending else None


@dataclasses.dataclass
class _Child:
    """A process that does work and sends frames: a letter and data.

    ending  why it sends no more, if it should have
    """

    process: int
    pipe: int
    ending: str = ""

    @staticmethod
    def start(
        work: Callable[[Callable[[bytes, bytes], None]], None], processor: float = float("inf")
    ) -> _Child:
        """A fork that does the work, and ends after so many seconds of the processor."""
        sys.stdout.flush()
        sys.stderr.flush()
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.close(reading)
            _be_child(work, writing, processor)
        os.close(writing)
        return _Child(child, reading)

    def answers(self, deadline: float) -> Generator[tuple[bytes, bytes]]:
        """What it sends until it ends, which it does at the deadline at the latest; its work is counted."""
        waiting = bytearray()
        is_done = is_late = False
        try:
            while not is_done:
                wait = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
                ready, _, _ = select.select([self.pipe], [], [], wait)
                is_late = not ready and time.monotonic() >= deadline
                if not ready and not is_late:
                    continue
                piece = os.read(self.pipe, 1 << 16) if ready else b""
                if not piece:
                    break
                waiting += piece
                for kind, data in _frames(waiting):
                    if kind == b"w":
                        is_done = True
                        add_work(int(data))
                    yield kind, data
        finally:
            status = self.end()
            self.ending = "" if is_done else _ending(status, is_late=is_late)

    def end(self) -> int:
        """End it, if it has not ended by itself; its status."""
        os.close(self.pipe)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        return os.waitpid(self.process, 0)[1]


def _frames(waiting: bytearray) -> Iterator[tuple[bytes, bytes]]:
    """The whole frames among bytes that came in, which are taken away."""
    while len(waiting) >= _HEAD.size:
        kind, length = _HEAD.unpack_from(waiting)
        end = _HEAD.size + length
        if len(waiting) < end:
            return
        data = bytes(waiting[_HEAD.size : end])
        del waiting[:end]
        yield kind, data


def _ending(status: int, *, is_late: bool) -> str:
    if is_late:
        return "cut short by wall time"
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) == signal.SIGVTALRM:
        return "cut short"
    return f"cut short by a crash ({signal.Signals(os.WTERMSIG(status)).name})"


# ---------------------------------------------------------------- in the child


def _be_child(work: Callable[[Callable[[bytes, bytes], None]], None], writing: int, processor: float) -> None:
    global _is_child
    _is_child = True
    # What was there before is garbage for the parent to collect; looking at it here would copy its pages.
    gc.freeze()
    try:
        die_with_parent()
        # Ctrl-C reaches the process that waits for this one, which ends it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        faulthandler.disable()
        if processor != float("inf"):
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_VIRTUAL, max(0.01, processor))
        with os.fdopen(writing, "wb") as pipe:

            def send(kind: bytes, data: bytes) -> None:
                pipe.write(_HEAD.pack(kind, len(data)) + data)
                pipe.flush()

            before = work_done()
            work(send)
            sys.stdout.flush()
            sys.stderr.flush()
            send(b"w", str(work_done() - before).encode())
    finally:
        os._exit(0)


def _send_text(work: Callable[[], str], send: Callable[[bytes, bytes], None]) -> None:
    with contextlib.suppress(Exception):
        send(b"a", work().encode())


def _send_all(
    work: Callable[[Callable[[Any], None]], None],
    known: Mapping[int, int],
    send: Callable[[bytes, bytes], None],
) -> None:
    try:
        work(lambda found: send(b"a", _pickled(found, known)))
    except ArrayfoldError as error:
        send(b"e", _pickled(_Failure(type(error), error.args, error.__dict__), known))
    except (Exception, KeyboardInterrupt) as error:
        where = "".join(traceback.format_exception(error))
        send(b"e", _pickled(_Failure(InternalError, internal(error).args, {}, where), known))


# ---------------------------------------------------------------- objects on their way


@dataclasses.dataclass(frozen=True)
class _Failure:
    """An error of a child, with the traceback of one that nobody foresaw."""

    kind: type[ArrayfoldError]
    args: tuple[Any, ...]
    data: Mapping[str, Any]
    where: str = ""

    def error(self) -> ArrayfoldError:
        error = self.kind.__new__(self.kind, *self.args)
        error.args = self.args
        error.__dict__.update(self.data)
        return error

    def cause(self) -> Exception | None:
        return RuntimeError(self.where) if self.where else None


def _objects(known: Any) -> list[Any]:
    """Data and all that it is made of, in an order that a fork finds, too."""
    found: dict[int, Any] = {}
    waiting: list[Any] = [known]
    while waiting:
        one = waiting.pop()
        if one is None or isinstance(one, (str, int, float, bool)) or id(one) in found:
            continue
        found[id(one)] = one
        if isinstance(one, ReadLate):
            waiting.extend(vars(one).values())
        elif dataclasses.is_dataclass(one):
            waiting += [getattr(one, item.name) for item in dataclasses.fields(one)]
        elif isinstance(one, Mapping):
            waiting.extend(cast(Mapping[Any, Any], one).values())
        elif isinstance(one, (tuple, list)):
            waiting.extend(cast(list[Any], one))
    return list(found.values())


class _Pickler(pickle.Pickler):
    """What was known before the fork is a number."""

    def __init__(self, target: io.BytesIO, known: Mapping[int, int]) -> None:
        super().__init__(target, pickle.HIGHEST_PROTOCOL)
        self.known = known

    def persistent_id(self, obj: Any) -> int | None:
        return self.known.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        """Sets and relations as isl's own text: islpy refuses some names that isl tells apart."""
        if isinstance(obj, ReadLate):
            return obj.to_send()
        return (type(obj), (str(obj),)) if isinstance(obj, _TEXTS) else NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, known: list[Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.known = known

    def persistent_load(self, pid: Any) -> Any:
        return self.known[pid]


def _pickled(found: Any, known: Mapping[int, int]) -> bytes:
    target, before = io.BytesIO(), work_done()
    _Pickler(target, known).dump(found)
    # Writing isl's text is no work either: what passes through several processes is written by some of them.
    add_work(before - work_done())
    return target.getvalue()
