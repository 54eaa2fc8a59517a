"""Stand-alone: runs one command, confined by Landlock and seccomp if asked, and leaves no process of it behind.

Started as `python -I -S launcher.py ORDER` (marshalled, in hexadecimal) and imports nothing of afresh. It stays outside of the
confinement as the parent of all that the command starts: orphans come to it (it is a subreaper) and are killed when the command
ends, when it is told to stop (SIGTERM), and when whoever started it dies. `exit 7`, `stopped` or `failed why` goes to `report`.
"""

# Every command waits for these imports: json, signal and contextlib would double them.
import _signal as signal  # pyright: ignore[reportMissingImports]
import ctypes
import marshal
import os
import resource
import sys

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_PARENT_DEATH_SIGNAL = 1
_SUBREAPER = 36
_NO_NEW_PRIVILEGES = 38
_SECCOMP = 22
_DROP_CAPABILITY = 24
_CAPABILITY_HELD = 23
_READ = 1 << 0 | 1 << 2 | 1 << 3
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_DEVICE = 1 << 15
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | _TRUNCATE | _DEVICE


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def read_landlock_version():
    """The version that the kernel offers; 0 for none."""
    return max(0, _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def _check(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option, *values):
    return _check(_LIBC.prctl(option, *(ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4])))


def _drop_capabilities():
    """Root would otherwise keep powers that no file rule speaks of, and get them back at the next exec."""
    for number in range(64) if os.getuid() == 0 else ():
        try:
            value = _prctl(_CAPABILITY_HELD, number)
        except OSError:
            break
        if value:
            _prctl(_DROP_CAPABILITY, number)
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _check(_LIBC.capset(ctypes.byref(header), ctypes.byref(nothing)))


def _restrict_files(rules):
    version = read_landlock_version()
    if version < 1:
        raise OSError("the kernel offers no Landlock")
    every = (1 << 13) - 1 | (_REFER if version > 1 else 0) | (_TRUNCATE if version > 2 else 0) | (_DEVICE if version > 4 else 0)
    wanted = _Ruleset(every, 3 if version > 3 else 0, 3 if version > 5 else 0)
    size = 24 if version > 5 else 16 if version > 3 else 8
    ruleset = _check(_LIBC.syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0)))
    for path in rules["read"]:
        _allow(ruleset, path, _READ & every)
    for path in rules["write"]:
        _allow(ruleset, path, every & ~_DEVICE)
    for path in rules["devices"]:
        _allow(ruleset, path, (_READ | 1 << 1 | _TRUNCATE | _DEVICE) & every)
    _check(_LIBC.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)))
    os.close(ruleset)


def _allow(ruleset, path, rights):
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(f"/proc/self/fd/{parent}"):
            rights &= _FILE_RIGHTS
        rule = _PathBeneath(rights, parent)
        _check(_LIBC.syscall(_ADD_RULE, ruleset, ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0)))
    finally:
        os.close(parent)


def _refuse_calls(steps):
    program = _Filter(len(steps) // 8, steps)
    _check(_LIBC.prctl(_SECCOMP, ctypes.c_ulong(2), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _become(order):
    """In the child: new session, limits, confinement, and then the command."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for name, value in order["limits"]:
        resource.setrlimit(name, (value, value))
    _prctl(_NO_NEW_PRIVILEGES, 1)
    if order["confined"]:
        _drop_capabilities()
        _restrict_files(order["confined"])
        _refuse_calls(order["confined"]["filter"])
    os.execv(order["argv"][0], order["argv"])


def _descendants():
    """All descendants of this process, from /proc."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(name))
    waiting, found = [os.getpid()], []
    while waiting:
        below = children.get(waiting.pop(), ())
        found += below
        waiting += below
    return found


def _end_all(group):
    """Kill until no child is left. The group goes first: that stops a fork bomb at once."""
    targets = [-group]
    while True:
        for target in targets:
            try:
                os.kill(target, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        targets = _descendants()


def _wait(child):
    """The child's exit status as a shell counts it; None when told to stop."""
    while True:
        signal_number = signal.sigwait({signal.SIGCHLD, signal.SIGTERM})
        if signal_number == signal.SIGTERM:
            return None
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if not process:
                break


def _run(order):
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(order["report"])
            _become(order)
        except BaseException as problem:
            os.write(tell, f"{type(problem).__name__}: {problem}".encode())
            os._exit(125)
    os.close(tell)
    try:
        code = _wait(child)
    finally:
        _end_all(child)
    failed = os.read(told, 4096).decode(errors="replace")
    return f"failed {failed}" if failed else "stopped" if code is None else f"exit {code}"


def main():
    order = marshal.loads(bytes.fromhex(sys.argv[1]))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    _prctl(_SUBREAPER, 1)
    _prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != order["parent"]:
        return
    os.set_inheritable(order["report"], False)
    os.write(order["report"], _run(order).encode())


if __name__ == "__main__":
    main()
