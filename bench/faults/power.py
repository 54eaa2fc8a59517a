"""Power losses: a writer on an ext4 image acknowledges each commit; the file system is shut down without flushing its log
(FS_IOC_SHUTDOWN), mounted again, and everything that was acknowledged before must be there. The first cycle that fails ends the
count, and its image is kept beside the log.

What is acknowledged after the shutdown began is only noted: with real power nobody would have heard it. Some of that is gone
afterwards, so an fsync that is under way seems to succeed although nothing is written.

A third of the cycles loses power at a random time. The others aim at where a database is most fragile: while it is made (the
first milliseconds of its life), and while its log is swept into it (right after it has been, seen by the size of the file).
"""

import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from faults.count import Count, Row, Twin, Unavailable, run_tool
from faults.writer import read_kept, read_last_acknowledged, writing

SHUTDOWN_REQUEST = 0x8004587D
NO_LOG_FLUSH = 2
IMAGE_BYTES = 48 << 20
MAX_FORMAT_TRIES = 50
FORMAT_RETRY_SECONDS = 0.2
MAX_WAIT_SECONDS = 10.0
FULL = 300
SHORT = 12
MAX_TWIN_CYCLES = 80


@contextmanager
def loop_device(folder: Path) -> Iterator[tuple[str, Path]]:
    image, place = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    place.mkdir()
    device = run_tool("losetup", "--find", "--show", str(image))
    try:
        yield device, place
    finally:
        subprocess.run(["umount", str(place)], capture_output=True)
        subprocess.run(["losetup", "--detach", device], capture_output=True)


def make_file_system(device: str) -> None:
    """Again for some seconds if the device is in use: a sandbox that starts meanwhile holds all mounts until it is set up."""
    for _ in range(MAX_FORMAT_TRIES):
        with suppress(Unavailable):
            run_tool("mkfs.ext4", "-q", "-F", device)
            return
        time.sleep(FORMAT_RETRY_SECONDS)
    run_tool("mkfs.ext4", "-q", "-F", device)


def lose_power(place: Path) -> None:
    handle = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, SHUTDOWN_REQUEST, struct.pack("<I", NO_LOG_FLUSH))
    finally:
        os.close(handle)


def wait_any_time(folder: Path, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.01, 0.5))


def wait_until_made(folder: Path, chance: random.Random) -> None:
    """Until one of the files of a new database is there, and up to some milliseconds more."""
    name = chance.choice(("afresh.db", "afresh.db-journal", "afresh.db-wal", "afresh.db-shm"))
    wait_until(lambda: (folder / name).exists())
    time.sleep(chance.choice((0, 0, chance.uniform(0, 0.01), chance.uniform(0, 0.05))))


def wait_until_swept(folder: Path, chance: random.Random) -> None:
    """Until the log was copied into the database so many times; the writer then starts the log again."""
    for _ in range(chance.randint(1, 3)):
        known = read_size(folder / "afresh.db")
        wait_until(lambda known=known: read_size(folder / "afresh.db") > known)
    time.sleep(chance.choice((0, 0, chance.uniform(0, 0.005), chance.uniform(0, 0.02))))


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + MAX_WAIT_SECONDS
    while not true() and time.monotonic() < until:
        pass


def read_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


MOMENTS = {"any time": wait_any_time, "made": wait_until_made, "swept": wait_until_swept}


@dataclass(frozen=True, slots=True)
class Loss:
    """What was acknowledged before power was lost, and until the writer was dead; what is there; why it is refused if it is."""

    acknowledged: int
    late: int
    kept: int
    refused: str

    @property
    def wrong(self) -> bool:
        return self.kept < self.acknowledged or bool(self.refused)


def try_power_loss(device: str, place: Path, moment: str, chance: random.Random, durable: bool) -> Loss:
    make_file_system(device)
    run_tool("mount", device, str(place))
    folder = place / "state"
    folder.mkdir()
    os.sync()
    with writing(folder, durable) as (child, told):
        MOMENTS[moment](folder, chance)
        lost_at = time.monotonic_ns()
        lose_power(place)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged, late = read_last_acknowledged(told, lost_at)
    run_tool("umount", str(place))
    run_tool("mount", device, str(place))
    keep = device_image(place).with_name("image.lost")
    run_tool("cp", "--sparse=always", str(device_image(place)), str(keep))  # before anything is opened, and rolled back
    kept, refused = read_kept(folder)
    run_tool("umount", str(place))
    return Loss(acknowledged, late, kept, refused)


def device_image(place: Path) -> Path:
    return place.with_name("image")


def try_power_losses(count: Count, cycles: int, durable: bool = True) -> tuple[dict[str, int], int]:
    """How often power was lost at which moment, and how often something was gone or refused afterwards. The twin loses
    something in one cycle of ten, so it goes on until it has."""
    lost, tried, chance = 0, dict.fromkeys(MOMENTS, 0), count.chance(f"power {durable}")
    with tempfile.TemporaryDirectory(prefix="afresh-power-") as top, loop_device(Path(top)) as (device, place):
        for cycle in range(cycles if durable else MAX_TWIN_CYCLES):
            if cycle >= cycles and lost:
                break
            moment = list(MOMENTS)[cycle % len(MOMENTS)]
            loss = try_power_loss(device, place, moment, chance, durable)
            count.note("power", cycle=cycle, moment=moment, twin=not durable, **asdict(loss), lost=loss.wrong)
            tried[moment], lost = tried[moment] + 1, lost + loss.wrong
            if loss.wrong and durable:
                shutil.copyfile(Path(top) / "image.lost", count.log / f"power-{cycle}.image")
                break
    return tried, lost


def measure(count: Count) -> list[Row]:
    cycles = count.tries("power", FULL, SHORT)
    tried, lost = try_power_losses(count, cycles)
    again, caught = try_power_losses(count, max(12, cycles // 10), durable=False)
    twins = (Twin("synchronous=OFF", sum(again.values()), caught),)
    return [Row("power losses (FS_IOC_SHUTDOWN on ext4)", sum(tried.values()), lost, twins, by_kind=tried)]
