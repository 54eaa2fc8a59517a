"""Attacks on the running of commands, each on every level that holds on this machine, numbered as in the list of attacks."""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from afresh.sandbox.choose_level import open_level
from afresh.sandbox.escape_probe import AnySandbox
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.resource_limits import ResourceLimits

SMALL = ResourceLimits(processes=64, memory=4 << 30, file_size=8 << 20, temporary=16 << 20, output=10_000)
"""Memory that no process has mapped counts for the whole machine, so what runs beside the tests must not come near its limit."""


@dataclass(frozen=True)
class Target:
    sandbox: AnySandbox
    tree: Path
    at: Path
    outside: Path
    secret: str

    def run(self, command: str, timeout: float = 120) -> str:
        return self.sandbox.run(command, timeout).output

    def python(self, code: str, timeout: float = 120) -> str:
        (self.tree / "attack.py").write_text(code)
        return self.sandbox.run(f"{sys.executable} -I -S attack.py", timeout).output


@pytest.fixture(params=["bubblewrap", "landlock"])
def target(requires_sandbox, request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    requires_sandbox(request.param)
    for name in ("worktree", "repository", "outside"):
        (tmp_path / name).mkdir()
    secret = secrets.token_hex(12)
    (tmp_path / "outside/key").write_text(secret)
    sandbox = open_level(request.param, Mounts(tmp_path / "worktree", tmp_path / "repository"), SMALL)
    return Target(sandbox, tmp_path / "worktree", tmp_path / "repository", tmp_path / "outside", secret)


def untouched(target: Target) -> bool:
    return [path.name for path in target.outside.iterdir()] == ["key"] and (target.outside / "key").read_text() == target.secret


def test_02_the_environment_holds_no_secret(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", target.secret)
    monkeypatch.setenv("SSH_AUTH_SOCK", "/somewhere/agent")
    output = target.run("env; set; export -p; cat /proc/self/environ /proc/$PPID/environ")
    assert target.secret not in output and "/somewhere/agent" not in output


def test_no_setting_of_the_kernel_can_be_opened_for_writing(target: Target) -> None:
    """As root a command's user is root outside, and a program named in core_pattern runs there. Opened only, never written."""
    opened = """
import os
for top in ("/proc", "/sys"):
    for folder, folders, files in os.walk(top):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit() and not os.path.islink("/proc/" + name)]
        for name in files:
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
                print("OPENED", os.path.join(folder, name))
            except OSError:
                pass
print("done")
"""
    assert target.python(opened) == "done\n"


def test_11_missing_agent_files_can_t_be_made(target: Target) -> None:
    target.run("mkdir -p .afresh .git/hooks; echo x > .afresh/config.toml; echo x > .git/hooks/pre-commit; echo x > .git/config")
    if target.sandbox.mounted:
        assert not (target.tree / ".afresh/config.toml").exists()
        assert not (target.tree / ".git/config").exists() and not (target.tree / ".git/hooks").exists()
    assert list(target.at.iterdir()) == [], "what afresh reads its settings from"


def test_11_the_worktrees_git_file_keeps_its_content(target: Target) -> None:
    (target.tree / ".git").write_text("gitdir: /right\n")
    target.run("echo 'gitdir: /wrong' > .git; rm -rf .git; mkdir .git; mv .git elsewhere; ln -s / .git")
    assert not (target.tree / ".git").is_symlink()
    assert (target.tree / ".git").read_text() == "gitdir: /right\n"


def test_14_a_link_to_the_outside_shows_nothing(target: Target) -> None:
    (target.tree / "committed").symlink_to(target.outside / "key")
    output = target.run(f"cat committed; ln -s {target.outside} made; cat made/key; echo x > made/key; echo y > made/new")
    assert target.secret not in output and untouched(target)


def test_16_a_hard_link_to_the_outside_can_t_be_made(target: Target) -> None:
    output = target.run(f"ln {target.outside}/key here; cat here; ln /usr/bin/env env && echo linked; ln .. up")
    assert target.secret not in output and "linked" not in output
    assert not (target.tree / "here").exists() and (target.outside / "key").stat().st_nlink == 1


def test_17_proc_leads_to_the_same_view(target: Target) -> None:
    output = target.run(
        f"for p in self 1 $PPID; do cat /proc/$p/root{target.outside}/key; cat /proc/$p/cwd/../outside/key; done;"
        f"for p in /proc/[0-9]*; do cat $p/root{target.outside}/key $p/cwd/../outside/key; cat $p/mem; ls $p/fd/; done"
    )
    assert target.secret not in output


def test_18_a_copied_program_is_confined_as_well(target: Target) -> None:
    loader = next(iter([*Path("/lib64").glob("ld-linux*"), *Path("/lib").glob("ld-linux*")]), None)
    output = target.run(
        f"key={target.outside}/key; cp $(command -v cat) mine; ./mine $key; {loader} ./mine $key; {loader} ./mine /etc/shadow"
    )
    assert target.secret not in output and "root:" not in output


def test_19_a_command_can_t_poison_the_next_one(target: Target) -> None:
    target.run(
        "export PATH=/evil:$PATH BASH_ENV=$PWD/evil; alias ls='echo evil'; cd /; echo evil | tee ~/.bashrc $TMPDIR/x; umask 777"
    )
    output = target.run("ls ~/.bashrc $TMPDIR/x 2>/dev/null; echo $PATH; pwd; umask; ls -d .")
    assert "evil" not in output and "bashrc" not in output and "\n.\n" in output and "0777" not in output


@pytest.mark.parametrize("joined", ["; {}", "&& {}", "| {}", "|| true; {}", "& {}", "$({})", "\n{}"])
def test_20_joined_commands_are_confined_as_well(target: Target, joined: str) -> None:
    output = target.run(
        "true " + joined.format(f"cat {target.outside}/key; echo x > {target.outside}/new; rm -f {target.outside}/key")
    )
    assert target.secret not in output and untouched(target)


def test_27_no_other_process_shows_its_environment(target: Target) -> None:
    other = subprocess.Popen(["/bin/sleep", "60"], env={"KEY": target.secret})
    try:
        assert target.secret not in target.run("cat /proc/1/environ /proc/[0-9]*/environ | tr '\\0' '\\n'")
    finally:
        other.kill()
        other.wait()


CONNECT = """
import socket, sys
for path in sys.argv[1:] or PATHS:
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
        connection.send(b"hello")
    except OSError as problem:
        print(type(problem).__name__)
pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    pair[0].connect(PATHS[0])
    pair[0].sendto(b"hello", PATHS[1])
except OSError as problem:
    print(type(problem).__name__)
"""


@pytest.fixture
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[socket.socket]]:
    """Sockets as docker and ssh-agent have them, by path (stream and datagram) and by abstract name."""
    folder = tmp_path_factory.mktemp("s")
    made = [socket.socket(socket.AF_UNIX, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_STREAM)]
    for one, name in zip(made, [str(folder / "a"), str(folder / "b"), f"\0afresh-{secrets.token_hex(6)}"], strict=True):
        one.bind(name)
        one.setblocking(False)
        if one.type == socket.SOCK_STREAM:
            one.listen()
    yield made
    for one in made:
        one.close()


def test_29_sockets_of_the_user_can_t_be_reached(target: Target, agents: list[socket.socket]) -> None:
    names = [name if isinstance(name := one.getsockname(), str) else name.decode() for one in agents]
    target.python(f"PATHS = {names!r}\n{CONNECT}")
    for one in agents:
        with pytest.raises(BlockingIOError):
            one.recv(10) if one.type == socket.SOCK_DGRAM else one.accept()
    assert "docker.sock" not in target.run("ls /run /var/run")


def test_29_a_socket_in_the_tree_can_t_be_made_to_lead_outside(target: Target, agents: list[socket.socket]) -> None:
    place = agents[0].getsockname()
    target.python(f"import os\nos.symlink({place!r}, 'link')\nPATHS = ['link', {place!r}]\n{CONNECT}")
    with pytest.raises(BlockingIOError):
        agents[0].accept()


REACH = """
import socket
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    for kind, port in ((socket.SOCK_STREAM, TCP), (socket.SOCK_DGRAM, UDP)):
        try:
            with socket.socket(family, kind) as out:
                out.settimeout(2)
                out.connect((host, port))
                out.send(b"secret")
        except OSError:
            pass
for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (40, socket.SOCK_STREAM), (38, 5), (socket.AF_INET, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind)
        print("made", family)
    except OSError:
        pass
try:
    print(socket.getaddrinfo("example.com", 80))
except OSError:
    pass
"""


@pytest.mark.promise("a command of the model")
def test_30_no_network_of_any_kind(target: Target) -> None:
    listening = [
        (family, kind, socket.socket(family, kind))
        for family in (socket.AF_INET,)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
    ]
    if socket.has_dualstack_ipv6():
        listening += [
            (socket.AF_INET6, kind, socket.socket(socket.AF_INET6, kind)) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        ]
    ports: dict[int, int] = {}
    for family, kind, one in listening:
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(("127.0.0.1" if family == socket.AF_INET else "::1", ports.get(kind, 0)))
        ports[kind] = one.getsockname()[1]
        one.setblocking(False)
        if kind == socket.SOCK_STREAM:
            one.listen()
    output = target.python(f"TCP, UDP = {ports[socket.SOCK_STREAM]}, {ports[socket.SOCK_DGRAM]}\n{REACH}")
    assert output == ""
    for _, kind, one in listening:
        with one, pytest.raises(BlockingIOError):
            one.accept() if kind == socket.SOCK_STREAM else one.recv(10)


def test_32_a_fork_bomb_is_stopped(target: Target) -> None:
    """It doubles slowly enough that a sandbox which only watches stops it before other programs find no process left."""
    done = target.sandbox.run("bomb() { sleep 0.4; bomb | bomb & }; bomb; sleep 20", 15)
    assert done.exit != 0
    assert target.run("echo alive") == "alive\n"


def test_32_a_large_file_is_stopped(target: Target) -> None:
    target.run("head -c 10G /dev/zero > large; head -c 10G /dev/zero > $TMPDIR/large; head -c 10G /dev/zero > /dev/shm/large")
    assert (target.tree / "large").stat().st_size <= SMALL.file_size


def test_32_endless_output_is_drained_and_cut(target: Target) -> None:
    done = target.sandbox.run("echo first; head -c 300M /dev/zero; echo last", 600)
    assert done.exit == 0 and len(done.output) < 2 * SMALL.output
    assert done.output.startswith("first\n") and done.output.endswith("last\n") and "bytes of output left out here" in done.output


def test_32_memory_without_end_is_stopped(target: Target) -> None:
    target = replace(target, sandbox=replace(target.sandbox, limits=replace(SMALL, memory=512 << 20)))
    alone = target.python("held = bytearray(3 << 30)\nprint('held')")
    assert "held\n" not in alone
    together = "import os, time\n[os.fork() for _ in range(3)]\nheld = b'x' * (100 << 20)\ntime.sleep(600)"
    assert "MB of memory" in target.python(together, 120)


def test_32_an_endless_loop_is_stopped(target: Target) -> None:
    done = target.sandbox.run("trap '' TERM INT HUP; while :; do :; done", 0.7)
    assert done.timed_out


DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    if sys.argv[-1] == "stay":
        time.sleep(60)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for descriptor in range(3):
    os.close(descriptor)
while True:
    with open("beat", "a") as file:
        file.write("x")
    time.sleep(0.01)
"""


@pytest.mark.parametrize("stay", [True, False])
def test_33_a_daemon_ends_with_its_command(target: Target, stay: bool) -> None:
    (target.tree / "daemon.py").write_text(DAEMON)
    wait = "stay" if stay else "go; until [ -s beat ]; do sleep 0.01; done"
    done = target.sandbox.run(f"{sys.executable} -I -S daemon.py {wait}", 10 if stay else 120)
    assert done.timed_out == stay
    beats = (target.tree / "beat").stat().st_size
    assert beats > 0
    time.sleep(0.2)
    assert (target.tree / "beat").stat().st_size == beats


def test_33_a_command_dies_with_the_agent(target: Target) -> None:
    """Whoever started it is killed outright: nothing may go on alone."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1].split(':')\n"
        "from pathlib import Path\nfrom afresh.sandbox.mounts import Mounts; from afresh.sandbox.choose_level import open_level\n"
        "sandbox = open_level(sys.argv[2], Mounts(Path(sys.argv[3]), Path(sys.argv[4])))\n"
        "sandbox.run('while :; do echo x >> beat; sleep 0.01; done', 600)"
    )
    arguments = [":".join(sys.path), target.sandbox.level, str(target.tree), str(target.at)]
    agent = subprocess.Popen([sys.executable, "-c", code, *arguments], env={**os.environ, "TMPDIR": str(target.outside)})
    beat = target.tree / "beat"
    while not beat.exists() or not beat.stat().st_size:
        assert agent.poll() is None
        time.sleep(0.02)
    agent.kill()
    agent.wait()
    _until_still(beat)


def _until_still(path: Path) -> None:
    for _ in range(100):
        before = path.stat().st_size
        time.sleep(0.1)
        if path.stat().st_size == before:
            return
    pytest.fail("it goes on")


def test_34_a_link_laid_in_tmp_catches_nothing(target: Target, tmp_path: Path) -> None:
    name = f"/tmp/afresh-{secrets.token_hex(8)}"
    os.symlink(target.outside / "key", name)
    try:
        target.run(f"cat {name}; echo caught > {name}; echo made > {name}.2")
        assert untouched(target) and not os.path.lexists(f"{name}.2")
    finally:
        os.unlink(name)


def test_34_tmp_is_private_and_gone_afterwards(target: Target) -> None:
    assert target.run("echo mine > $TMPDIR/note; cat $TMPDIR/note; stat -c %a $HOME") != ""
    assert target.run("cat $TMPDIR/note 2>/dev/null") == ""


def test_no_file_of_the_tree_runs_as_its_owner_on_the_host(target: Target) -> None:
    target.run("cp /usr/bin/id one; chmod u+s one; chmod 4755 one; chmod g+s one; cp one two; chmod 755 two")
    target.python("import os\nos.close(os.open('three', os.O_CREAT | os.O_WRONLY, 0o4755))")
    modes = {path.name: path.stat().st_mode & 0o7777 for path in target.tree.iterdir()}
    assert modes["two"] == 0o755 and not any(mode & 0o6000 for mode in modes.values())


def test_what_root_owns_is_safe_from_root(target: Target) -> None:
    target.run("mount -o remount,rw /usr; mount -t tmpfs t /mnt; mknod disk b 254 0; chroot / true")
    assert not (target.tree / "disk").exists()
    output = target.run(
        "cat /etc/shadow /root/.ssh/* /home/*/.ssh/*; touch /usr/x /etc/x /bin/x && echo wrote; grep CapEff /proc/self/status"
    )
    assert "root:" not in output and "wrote" not in output and "CapEff:\t0000000000000000" in output


def test_32_the_sum_of_what_a_command_writes_is_limited(target: Target) -> None:
    """Each file is small enough; together they are not."""
    small = replace(target.sandbox, limits=replace(SMALL, written=64 << 20))
    done = small.run("for i in $(seq 1 400); do head -c 4000000 /dev/zero > f$i; done; echo wrote all", 600)
    assert done.exit == 137 and done.spoiled and "[afresh: stopped: more than 64 MB written" in done.output
    assert "wrote all" not in done.output
    assert sum(path.stat().st_size for path in target.tree.iterdir()) < 1_600_000_000


def test_32_the_number_of_files_is_limited(target: Target) -> None:
    small = replace(target.sandbox, limits=replace(SMALL, files=2_000))
    many = "import os\nfor i in range(60_000): open(f'n{i}', 'w').close()\nprint('wrote all')"
    (target.tree / "attack.py").write_text(many)
    done = small.run(f"{sys.executable} -I -S attack.py; sleep 600", 600)
    assert done.exit == 137 and "more than 2,000 files written" in done.output


FILL = """
import contextlib, resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
pairs = []
def fill(*pair):
    for one in pair:
        one.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while one.send(bytes(1 << 14)):
                pass
    return pair
"""


@pytest.mark.parametrize(
    "held",
    [
        "f = os.memfd_create('x'); os.write(f, bytes(size)); maps.append(mmap.mmap(f, size)); os.close(f)",
        "m = mmap.mmap(-1, size); m.write(bytes(size)); m.madvise(mmap.MADV_DONTNEED); maps.append(m)",
        "s = shmget(0, size, 0o1600); a = shmat(s, None, 0); ctypes.memset(a, 1, size); shmdt(ctypes.c_void_p(a))",
        "pairs += [fill(*socket.socketpair()) for _ in range(100)]",
    ],
    ids=["files in memory", "shared pages", "segments", "sockets"],
)
def test_32_memory_that_no_process_has_mapped_is_limited(target: Target, held: str) -> None:
    """Counted for the whole machine, where other tests may give some back meanwhile: so it grows for eight seconds."""
    small = replace(target.sandbox, limits=replace(SMALL, memory=128 << 20, file_size=64 << 20))
    (target.tree / "attack.py").write_text(
        f"{FILL}\nimport ctypes, mmap, os, time\nsize, maps, libc = 40 << 20, [], ctypes.CDLL(None)\n"
        "shmget, shmat, shmdt = libc.shmget, libc.shmat, libc.shmdt\nshmat.restype = ctypes.c_void_p\n"
        f"for _ in range(40):\n    {held}\n    time.sleep(0.2)\nprint('held', flush=True)"
    )
    done = small.run(f"{sys.executable} -I -S attack.py", 600)
    refused = "shmget" in held and target.sandbox.level == "landlock"
    assert (done.exit != 0 and "held" not in done.output) if refused else "more than 128 MB of memory" in done.output


def test_32_the_sum_of_what_a_task_writes_is_limited(target: Target) -> None:
    """Each command writes little enough, also into its snapshots; together they do not. What is over it can still be removed."""
    marker = target.outside / "shadow/opened.json"
    (marker.parent / "objects").mkdir(parents=True)
    (target.tree / "from the commit").write_bytes(bytes(30 << 20))
    time.sleep(0.1)
    marker.write_text("{}")
    time.sleep(0.1)
    limits = replace(SMALL, written=16 << 20, task_written=40 << 20)
    small = replace(target.sandbox, limits=limits, mounts=replace(target.sandbox.mounts, marker=marker))
    done = [small.run(f"head -c 8000000 /dev/urandom > f{number}", 600) for number in range(4)]
    (marker.parent / "objects/snapshot").write_bytes(bytes(8_000_000))
    while not done[-1].spoiled and len(done) < 9:  # what others free on the disk meanwhile can hide a command from the first look
        time.sleep(0.1)
        done.append(small.run(f"head -c 8000000 /dev/urandom > f{len(done)}", 600))
    assert not any(one.spoiled for one in done[:4]) and done[-1].spoiled
    assert "more than 40 MB written by all commands of the task" in done[-1].output
    assert small.run("rm f*", 600).exit == 0 and not small.run("head -c 8000000 /dev/urandom > g", 600).spoiled


def test_32_files_without_a_name_count(target: Target) -> None:
    small = replace(target.sandbox, limits=replace(SMALL, written=20 << 20))
    hide = (
        "import os, time\nheld = []\nfor i in range(12):\n f = open('x', 'wb'); os.unlink('x')\n"
        " f.write(bytes(7 << 20)); f.flush()\n held.append(f)\ntime.sleep(60)"
    )
    (target.tree / "attack.py").write_text(hide)
    done = small.run(f"{sys.executable} -I -S attack.py", 600)
    assert done.exit == 137 and not done.timed_out and "more than 20 MB written" in done.output


def test_what_was_there_before_the_command_is_not_counted(target: Target) -> None:
    for number in range(30):
        (target.tree / f"old{number}").write_bytes(bytes(1 << 20))
    time.sleep(0.1)
    small = replace(target.sandbox, limits=replace(SMALL, written=20 << 20, files=20))
    done = small.run("cat old* | wc -c; sleep 2.5; echo end", 600)
    assert done.exit == 0 and done.output.endswith("end\n") and not done.spoiled


def test_a_socket_in_the_tree_leads_to_nobody(target: Target) -> None:
    """Who listens there is outside of the sandbox."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(target.tree / "door"))
        listener.listen()
        listener.settimeout(0.1)
        place = target.at if target.sandbox.mounted else target.tree
        call = f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('{place}/door')\ns.send(b'out')\nprint('GOT OUT')"
        assert "GOT OUT" not in target.python(call)
        with pytest.raises(TimeoutError):
            listener.accept()


def test_a_hard_limit_of_the_shell_is_kept_and_named(target: Target) -> None:
    """`ulimit -f` can't be raised again: commands run with it, and one that it ends says so."""
    code = (
        "import resource, sys\nfrom pathlib import Path\nresource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from afresh.sandbox.choose_level import open_level\nfrom afresh.sandbox.mounts import Mounts\n"
        f"sandbox = open_level('{target.sandbox.level}', Mounts(Path('{target.tree}'), Path('{target.at}')))\n"
        "print(sandbox.run('echo small > a; cat a', 600).output, sandbox.run('head -c 900000 /dev/zero > b', 600))"
    )
    source = str(Path(__file__).parents[2] / "src")
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source})
    assert "small" in said.stdout, said.stderr
    assert "over the limit of 200,000 bytes that afresh was started with (ulimit -f)" in said.stdout
