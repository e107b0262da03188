"""Jobs that are killed, damaged or refused: results appear complete, and finished blocks are kept."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.models.built_models import one_line
from tests.processes import importing, started
from tests.stored import killed
from tests.stored.stores import Array, content, put, taken
from vinculum import div
from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.stored import divide, journal
from vinculum.stored import job as carrying_out

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

Stop = Callable[[int, int], None]


class StoppedError(Exception):
    """The error with which a test stops a job."""


@dataclass(frozen=True)
class Job:
    """Two stored operands of 40 blocks, their quotients, and the path of the result."""

    a: str
    b: str
    quotients: Array
    out: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def partial(self) -> Path:
        """The file of the quotients until they are complete."""
        return self.out.with_name(f"{self.out.name}.partial")

    @property
    def notes(self) -> Path:
        """The journal."""
        return self.out.with_name(f"{self.out.name}.journal")

    def run(self, advance: Stop | None = None, task_bytes: int = killed.TASK_BYTES) -> int:
        """Run the job, or the rest of it; return how many blocks an earlier run had finished."""
        return divide(self.a, self.b, self.out, task_bytes=task_bytes, advance=advance, **self.options).resumed

    def stop(self, task_bytes: int = killed.TASK_BYTES) -> None:
        """Run it, and stop it after about half of the blocks."""
        with pytest.raises(StoppedError):
            self.run(after(20, stop), task_bytes)
        assert self.partial.exists()
        assert self.notes.exists()
        assert not self.out.exists()

    def refuse(self, words: str) -> None:
        """Fail unless it is refused, in one line, and all files stay unchanged."""
        before = content(self.out.parent)
        with one_line(ModelError, words):
            self.run()
        assert content(self.out.parent) == before

    def check(self) -> None:
        """Fail unless the result is right and the journal is gone."""
        assert taken(str(self.out)).tobytes() == self.quotients.tobytes()
        assert not self.notes.exists()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job with nothing done."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-99, 99, (40, 1024)).astype("i4"), rng.integers(1, 99, (40, 1024)).astype("i4")
    return Job(put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "npy"), div(a, b), tmp_path / "c.npy")


def after(task: int, action: Callable[[], object]) -> Stop:
    """Return a callback that does something once, after so many tasks."""
    left = [action]

    def advance(done: int, size: int) -> None:
        if done >= task * killed.TASK_BYTES and left:
            left.pop()()

    return advance


def stop() -> None:
    raise StoppedError


class TestKills:
    """A job that is killed at any moment can be resumed, and gives the same bytes."""

    def test_a_few(self, job: Job) -> None:
        self.kill(4, job, str(job.out))

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("name", ["c.npy", "c.h5:/q", "c.zarr"])
    def test_many(self, name: str, job: Job) -> None:
        folder = job.out.parent
        a = put(folder, "x", taken(job.a), "zarr", 64) if "zarr" in name else job.a
        self.kill(50, replace(job, a=a, out=folder / name.partition(":")[0]), f"{folder}/{name}")

    def kill(self, times: int, job: Job, out: str) -> None:
        """Kill so many processes, most of them after some blocks, and up to three before a job is completed."""
        folder = job.out.parent
        before = set(folder.iterdir())
        random = Random(0)
        kills = 0
        with started([sys.executable, killed.__file__, job.a, job.b], env=importing(), **killed.PIPES) as process:
            while kills < times:
                for _ in range(random.randint(1, 3)):
                    begins = random.random() < 0.1
                    code = killed.divided(process, 0 if begins else random.randint(1, 15), random.randint(1, 12), out)
                    assert code in (0, -signal.SIGKILL)
                    if code == 0:
                        break
                    kills += 1
                    assert begins or killed.finished(job.notes), "there is something to resume"
                else:
                    finished = len(killed.finished(job.notes))
                    assert divide(job.a, job.b, out, task_bytes=killed.TASK_BYTES).resumed == finished
                assert set(folder.iterdir()) == before | {job.out}
                assert taken(out).tobytes() == job.quotients.tobytes()
                shutil.rmtree(job.out) if job.out.is_dir() else job.out.unlink()

    def test_what_is_done_already_counts(self, job: Job) -> None:
        job.stop()
        told: list[tuple[int, int]] = []
        resumed = job.run(lambda done, size: told.append((done, size)))
        assert resumed > 0
        assert told[0] == (resumed * job.quotients.nbytes // 40, job.quotients.nbytes)
        assert told[-1] == (job.quotients.nbytes, job.quotients.nbytes)
        assert [done for done, _ in told] == sorted(done for done, _ in told)

    def test_between_the_last_two_steps(self, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
        """If the result is complete, only the journal is removed."""

        def unlinked(path: Path, missing_ok: bool = False) -> None:
            if not missing_ok:  # as the journal is, at the end
                stop()

        monkeypatch.setattr(Path, "unlink", unlinked)
        with pytest.raises(StoppedError):
            job.run()
        monkeypatch.undo()
        before = job.out.stat()
        assert job.notes.exists()
        assert job.run() == 40
        assert (job.out.stat().st_ino, job.out.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert not job.notes.exists()


class TestJournal:
    """The journal counts up to its first damaged line; that of another or a running job is left alone."""

    def test_torn_at_every_byte(self, job: Job) -> None:
        task_bytes = 4 * killed.TASK_BYTES
        job.stop(task_bytes)
        lines, data = job.notes.read_bytes(), job.partial.read_bytes()
        ends = [n for n, byte in enumerate(lines) if byte == ord("\n")]
        assert len(ends) > 4
        for cut in [*range(0, ends[0], 48), ends[0], *range(ends[0], len(lines), 23)]:
            job.partial.unlink(missing_ok=True)
            job.notes.write_bytes(lines[:cut])
            if cut > ends[0]:  # before the first line is on the disk, nothing is made
                job.partial.write_bytes(data)
            if cut > ends[1]:  # the second line says which file was made
                made = {"made": [job.partial.stat().st_dev, job.partial.stat().st_ino]}
                rest = lines[:cut].split(b"\n", 2)
                job.notes.write_bytes(b"\n".join([rest[0], journal._line(made)[:-1], rest[2]]))
            assert job.run(task_bytes=task_bytes) == max(0, sum(end < cut for end in ends) - 2)
            job.check()
            job.out.unlink()

    def test_a_changed_block_is_done_again(self, job: Job) -> None:
        job.stop()
        finished = killed.finished(job.notes)
        with job.partial.open("r+b") as file:
            file.seek(128 + finished[0] * killed.TASK_BYTES + 3)
            file.write(b"\xaa")
        assert job.run() == len(finished) - 1
        job.check()

    def test_a_changed_line_ends_it(self, job: Job) -> None:
        job.stop()
        lines = job.notes.read_bytes().split(b"\n")
        lines[5] = lines[5].replace(b'"crc":', b'"crc":1')
        job.notes.write_bytes(b"\n".join(lines))
        assert job.run() == 3
        job.check()

    def test_without_the_data_nothing_that_it_says_is_true(self, job: Job) -> None:
        job.stop()
        job.partial.unlink()
        assert job.run() == 0
        job.check()

    def test_that_is_none(self, job: Job) -> None:
        job.notes.write_text("Dear diary,\n")
        job.refuse("is not a job's journal")

    def test_in_use(self, job: Job) -> None:
        with journal.Journal(job.notes, {}):
            job.refuse("another process runs this job")
        job.run()
        job.check()


class TestInTheWay:
    """Existing files are never overwritten."""

    @pytest.mark.parametrize("name", ["c.npy", "c.npy.partial"])
    def test_a_file(self, name: str, job: Job) -> None:
        (job.out.parent / name).write_bytes(b"mine")
        job.refuse(f"{name}' exists; delete it, or give another place")

    def test_an_operand(self, job: Job, tmp_path: Path) -> None:
        shutil.copy(job.a, job.partial)
        (tmp_path / "link.npy").symlink_to(job.a)
        for out in (Path(job.a), tmp_path / "link.npy"):
            replace(job, out=out).refuse("is an operand, which is never written")

    def test_a_result_that_came_meanwhile(self, job: Job) -> None:
        with pytest.raises(ModelError, match="exists"):
            job.run(after(5, lambda: job.out.write_bytes(b"mine")))
        job.refuse("exists")
        job.out.unlink()
        assert job.run() == 40

    def test_a_result_that_is_not_of_the_journal(self, job: Job) -> None:
        job.stop()
        job.partial.rename(job.out)
        job.refuse(f"{str(job.out)!r} does not match {str(job.notes)!r}; delete either")


def test_a_policy_counts_over_the_whole_job(tmp_path: Path) -> None:
    """An error of a policy for the whole result leaves no files, even after a resumption."""
    a, b = np.ones((40, 1024), "i4"), np.ones((40, 1024), "i4")
    b[3, 1000] = b[30, 7] = b[39, 0] = b[2, 1023] = 0
    job = Job(put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "npy"), a, tmp_path / "c.npy")
    with pytest.raises(DivisionByZeroError) as wanted:
        div(a, b)
    job.stop()
    with pytest.raises(DivisionByZeroError) as error:
        job.run()
    assert str(error.value) == str(wanted.value)
    assert (error.value.count, error.value.first_index) == (4, (2, 1023))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]


class TestTrouble:
    """Operands that change or shrink give a message of one line, and finished blocks are kept."""

    def test_an_operand_that_shrinks(self, job: Job) -> None:
        a = Path(job.a)
        whole, times = a.read_bytes(), a.stat()
        with pytest.raises((OSError, ModelError), match=r"a\.npy|it shrank"):
            job.run(after(10, lambda: os.truncate(a, 30_000)))
        assert job.notes.exists()
        job.refuse("takes 163968 bytes; the file has 30000")
        a.write_bytes(whole)
        os.utime(a, ns=(times.st_atime_ns, times.st_mtime_ns))
        job.refuse("another job: time of change of A was")

    @pytest.mark.parametrize("kind", ["npy", "zarr"])
    def test_an_operand_that_changes(self, kind: str, job: Job, tmp_path: Path) -> None:
        job = replace(job, a=put(tmp_path, "x", taken(job.a), kind, 64))
        file = max(path for path in (Path(job.a), *Path(job.a).rglob("c/0/*")) if path.is_file())
        with pytest.raises(
            ModelError,
            match=r"changed while it was read: time of change was .*; delete the \.partial and \.journal files, and",
        ):
            job.run(after(0, lambda: os.utime(file)))
        job.refuse("belongs to another job: time of change of A was")


def test_data_and_lines_are_brought_to_the_disk_meanwhile(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(journal, "_EVERY", 0.0)
    monkeypatch.setattr(carrying_out, "sync_data", lambda file: calls.append("data"))
    monkeypatch.setattr(journal, "sync_data", lambda file: calls.append("lines"))
    job.run()
    assert calls[0] == "lines", "which job it is"
    assert calls[1:4] == ["data", "data", "lines"], "the file, its name, and that it is this job's"
    assert calls[4:6] == ["data", "lines"]
    assert calls[-2:] == ["data", "data"], "the result, and its name in the folder"
    job.check()
