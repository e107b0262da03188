"""Jobs that are killed, torn, refused or run out of room: what appears is whole, what is done is kept."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.processes import importing, started
from tests.stored import killed
from tests.stored.stores import Array, content, put, taken
from vinculum import Operator, div
from vinculum.errors import DivisionByZeroError, ModelError
from vinculum.stored import divide, job, journal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="stored arrays are divided on Linux and macOS")

Stop = Callable[[int, int], None]


class StoppedError(Exception):
    """What a test stops a job with."""


@pytest.fixture
def operands(tmp_path: Path) -> tuple[str, str, Array]:
    """Return two stored operands of 40 blocks, and their quotients."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-99, 99, (40, 1024)).astype("i4"), rng.integers(1, 99, (40, 1024)).astype("i4")
    return put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "npy"), div(a, b)


def after(task: int, action: Callable[[], object]) -> Stop:
    """Return what does something as soon as so many bytes are done."""
    left = [action]

    def advance(done: int, size: int) -> None:
        if done >= task * killed.TASK_BYTES and left:
            left.pop()()

    return advance


def stop() -> None:
    raise StoppedError


def stopped_job(a: str, b: str, out: Path, task_bytes: int = killed.TASK_BYTES) -> tuple[Path, Path]:
    """Do about half of a job, and return what it leaves."""
    with pytest.raises(StoppedError):
        divide(a, b, out, task_bytes=task_bytes, advance=after(20, stop))
    left = out.with_name(f"{out.name}.partial"), out.with_name(f"{out.name}.journal")
    assert left[0].exists()
    assert left[1].exists()
    assert not out.exists()
    return left


class TestKills:
    """Killed at any moment, and run again: what was finished is kept, and the bytes are the same."""

    def test_a_few(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        self.kill(4, tmp_path, "c.npy", *operands)

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("name", ["c.npy", "c.h5:/q", "c.zarr"])
    def test_many(self, name: str, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        self.kill(50, tmp_path, name, put(tmp_path, "x", taken(a), "zarr", 64) if "zarr" in name else a, b, quotients)

    def kill(self, times: int, folder: Path, name: str, a: str, b: str, quotients: Array) -> None:
        """Kill so many processes, most when the journal has grown; up to three of a job, which another ends."""
        before = set(folder.iterdir())
        out = f"{folder}/{name}"
        result = Path(out.partition(":")[0])
        journal = result.with_name(f"{result.name}.journal")
        random = Random(0)
        kills = 0
        with started([sys.executable, killed.__file__, a, b], env=importing(), **killed.PIPES) as process:
            while kills < times:
                for _ in range(random.randint(1, 3)):
                    begins = random.random() < 0.1
                    code = killed.divided(process, 0 if begins else random.randint(1, 15), random.randint(1, 12), out)
                    assert code in (0, -signal.SIGKILL)
                    if code == 0:
                        break
                    kills += 1
                    assert begins or killed.finished(journal), "there is something to resume"
                else:
                    finished = len(killed.finished(journal))
                    assert divide(a, b, out, task_bytes=killed.TASK_BYTES).resumed == finished
                assert set(folder.iterdir()) == before | {result}
                assert taken(out).tobytes() == quotients.tobytes()
                shutil.rmtree(result) if result.is_dir() else result.unlink()

    def test_between_the_last_two_steps(
        self, tmp_path: Path, operands: tuple[str, str, Array], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The result has its place, and the journal is still there: it goes, and nothing else happens."""
        a, b, _ = operands
        out, notes = tmp_path / "c.npy", tmp_path / "c.npy.journal"

        def unlinked(path: Path, missing_ok: bool = False) -> None:
            if not missing_ok:  # as the journal is, at the end
                stop()

        monkeypatch.setattr(Path, "unlink", unlinked)
        with pytest.raises(StoppedError):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)
        monkeypatch.undo()
        before = out.stat()
        assert notes.exists()
        assert divide(a, b, out, task_bytes=killed.TASK_BYTES).resumed == 40
        assert (out.stat().st_ino, out.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert not notes.exists()


class TestJournal:
    """Believed as far as it is intact; of another job, or in use, it is left alone."""

    def test_torn_at_every_byte(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        out, task_bytes = tmp_path / "c.npy", 4 * killed.TASK_BYTES
        partial, notes = stopped_job(a, b, out, task_bytes)
        lines, data = notes.read_bytes(), partial.read_bytes()
        ends = [n for n, byte in enumerate(lines) if byte == ord("\n")]
        assert len(ends) > 4
        for cut in [*range(0, ends[0], 48), ends[0], *range(ends[0], len(lines), 23)]:
            partial.unlink(missing_ok=True)
            notes.write_bytes(lines[:cut])
            if cut > ends[0]:  # before the first line is on the disk, nothing is made
                partial.write_bytes(data)
            if cut > ends[1]:  # the second line says which file was made
                made = {"made": [partial.stat().st_dev, partial.stat().st_ino]}
                rest = lines[:cut].split(b"\n", 2)
                notes.write_bytes(b"\n".join([rest[0], journal._line(made)[:-1], rest[2]]))
            report = divide(a, b, out, task_bytes=task_bytes)
            assert report.resumed == max(0, sum(end < cut for end in ends) - 2)
            assert np.load(out).tobytes() == quotients.tobytes()
            assert not notes.exists()
            out.unlink()

    def test_a_changed_block_is_done_again(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        out = tmp_path / "c.npy"
        partial, notes = stopped_job(a, b, out)
        finished = killed.finished(notes)
        with partial.open("r+b") as file:
            file.seek(128 + finished[0] * killed.TASK_BYTES + 3)
            file.write(b"\xaa")
        assert divide(a, b, out, task_bytes=killed.TASK_BYTES).resumed == len(finished) - 1
        assert np.load(out).tobytes() == quotients.tobytes()

    def test_a_changed_line_ends_it(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        _, notes = stopped_job(a, b, tmp_path / "c.npy")
        lines = notes.read_bytes().split(b"\n")
        lines[5] = lines[5].replace(b'"crc":', b'"crc":1')
        notes.write_bytes(b"\n".join(lines))
        assert divide(a, b, tmp_path / "c.npy", task_bytes=killed.TASK_BYTES).resumed == 3
        assert np.load(tmp_path / "c.npy").tobytes() == quotients.tobytes()

    def test_tasks_of_another_size_go_on(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        with pytest.raises(StoppedError):
            divide(a, b, tmp_path / "c.npy", advance=after(1, stop))  # one block of all
        (tmp_path / "c.npy.journal").unlink()
        (tmp_path / "c.npy.partial").unlink()
        partial, _ = stopped_job(a, b, tmp_path / "c.npy")
        partial.unlink()  # then nothing that the journal says is true any more
        assert divide(a, b, tmp_path / "c.npy", task_bytes=killed.TASK_BYTES).resumed == 0
        assert np.load(tmp_path / "c.npy").tobytes() == quotients.tobytes()

    def test_of_another_job(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, _ = operands
        before = content(stopped_job(a, b, tmp_path / "c.npy")[1])
        for operator in (Operator("Divide"), Operator("Div", overflow="raise")):
            with pytest.raises(
                ModelError, match=r"c\.npy\.journal' belongs to another job: o\w+ was .*, now .*; delete it and"
            ):
                divide(a, b, tmp_path / "c.npy", operator=operator, task_bytes=killed.TASK_BYTES)
        with pytest.raises(ModelError, match="path of A was"):
            divide(b, a, tmp_path / "c.npy", task_bytes=killed.TASK_BYTES)
        assert content(tmp_path / "c.npy.journal") == before

    def test_that_is_none(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        (tmp_path / "c.npy.journal").write_text("Dear diary,\n")
        with pytest.raises(ModelError, match="is not a job's journal"):
            divide(*operands[:2], tmp_path / "c.npy")

    def test_in_use(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, quotients = operands
        used = pytest.raises(ModelError, match="another process runs this job")
        with journal.Journal(tmp_path / "c.npy.journal", {}), used:
            divide(a, b, tmp_path / "c.npy")
        divide(a, b, tmp_path / "c.npy")
        assert np.load(tmp_path / "c.npy").tobytes() == quotients.tobytes()


class TestInTheWay:
    """What is there already is never written over."""

    @pytest.mark.parametrize("name", ["c.npy", "c.npy.partial"])
    def test_a_file(self, name: str, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        (tmp_path / name).write_bytes(b"mine")
        with pytest.raises(ModelError, match=f"{name}' exists; delete it, or give another place"):
            divide(*operands[:2], tmp_path / "c.npy")
        assert (tmp_path / name).read_bytes() == b"mine"
        assert not (tmp_path / "c.npy.journal").exists()

    def test_an_operand(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, _ = operands
        shutil.copy(a, tmp_path / "c.npy.partial")
        (tmp_path / "link.npy").symlink_to(a)
        for out in (a, str(tmp_path / "link.npy")):
            with pytest.raises(ModelError, match="is an operand, which is never written"):
                divide(a, b, out)

    def test_a_result_that_came_meanwhile(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, _ = operands
        out = tmp_path / "c.npy"
        with pytest.raises(ModelError, match="exists"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES, advance=after(5, lambda: out.write_bytes(b"mine")))
        with pytest.raises(ModelError, match="exists"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)
        out.unlink()
        assert divide(a, b, out, task_bytes=killed.TASK_BYTES).resumed == 40

    def test_a_result_that_is_not_of_the_journal(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, _ = operands
        out = tmp_path / "c.npy"
        partial, _ = stopped_job(a, b, out)
        partial.rename(out)
        with pytest.raises(ModelError, match=r"c\.npy' does not match .*c\.npy\.journal'; delete either"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)

    def test_no_folder(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        with pytest.raises(ModelError, match=r"there is no folder .* make it first"):
            divide(*operands[:2], tmp_path / "none" / "c.npy")


class TestPolicies:
    """An error of the whole result leaves nothing, however often its job was stopped."""

    def test_counted_over_the_whole_job(self, tmp_path: Path) -> None:
        a, b = np.ones((40, 1024), "i4"), np.ones((40, 1024), "i4")
        b[3, 1000] = b[30, 7] = b[39, 0] = b[2, 1023] = 0
        names = put(tmp_path, "a", a, "npy"), put(tmp_path, "b", b, "npy")
        with pytest.raises(DivisionByZeroError) as wanted:
            div(a, b)
        stopped_job(*names, tmp_path / "c.npy")
        with pytest.raises(DivisionByZeroError) as error:
            divide(*names, tmp_path / "c.npy", task_bytes=killed.TASK_BYTES)
        assert str(error.value) == str(wanted.value)
        assert (error.value.count, error.value.first_index) == (4, (2, 1023))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]


class TestTrouble:
    """Files that change, end early, or cannot be written: one line, and what is done is kept."""

    def test_an_operand_that_shrinks(self, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a, b, _ = operands
        whole, times = Path(a).read_bytes(), Path(a).stat()
        out = tmp_path / "c.npy"
        with pytest.raises((OSError, ModelError), match=r"a\.npy|it shrank"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES, advance=after(10, lambda: os.truncate(a, 30_000)))
        assert (tmp_path / "c.npy.journal").exists()
        with pytest.raises(ModelError, match="takes 163968 bytes; the file has 30000"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)
        Path(a).write_bytes(whole)
        os.utime(a, ns=(times.st_atime_ns, times.st_mtime_ns))
        with pytest.raises(ModelError, match="another job: time of change of A was"):
            divide(a, b, out, task_bytes=killed.TASK_BYTES)

    @pytest.mark.parametrize("kind", ["npy", "zarr"])
    def test_an_operand_that_changes(self, kind: str, tmp_path: Path, operands: tuple[str, str, Array]) -> None:
        a = put(tmp_path, "x", taken(operands[0]), kind, 64)
        file = max(path for path in (Path(a), *Path(a).rglob("c/0/*")) if path.is_file())
        with pytest.raises(
            ModelError,
            match=r"changed while it was read: time of change was .*; delete the \.partial and \.journal files, and",
        ):
            divide(a, operands[1], tmp_path / "c.npy", advance=after(0, lambda: os.utime(file)))
        with pytest.raises(ModelError, match="belongs to another job: time of change of A was"):
            divide(a, operands[1], tmp_path / "c.npy")


def test_data_and_lines_are_brought_to_the_disk_meanwhile(
    tmp_path: Path, operands: tuple[str, str, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, quotients = operands
    calls: list[str] = []
    monkeypatch.setattr(journal, "_EVERY", 0.0)
    monkeypatch.setattr(job, "sync_data", lambda file: calls.append("data"))
    monkeypatch.setattr(journal, "sync_data", lambda file: calls.append("lines"))
    divide(a, b, tmp_path / "c.npy", task_bytes=killed.TASK_BYTES)
    assert calls[0] == "lines", "which job it is"
    assert calls[1:4] == ["data", "data", "lines"], "the file, its name, and that it is this job's"
    assert calls[4:6] == ["data", "lines"]
    assert calls[-2:] == ["data", "data"], "the result, and its name in the folder"
    assert np.load(tmp_path / "c.npy").tobytes() == quotients.tobytes()
