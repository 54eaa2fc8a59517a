"""Stand-alone: tries to get out of wherever it is run, each attempt in a process of its own, and prints as JSON what came of it.

The first argument says what there is outside: paths, processes, objects. An attempt returns True when it is out. All harm
that it can do is to what it aims at.
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
AIM = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
CANARY, MARK, VICTIM, READABLE = (AIM.get(name) for name in ("canary", "mark", "victim", "readable"))
OUT, HELD = 42, 43
AT_FDCWD = -100
PROBES = {}


def probe(function):
    PROBES[function.__name__] = function
    return function


def call(name, *values):
    """A system call by its number, without what the C library makes of it."""
    given = [value if isinstance(value, bytes) or hasattr(value, "_type_") else ctypes.c_long(value) for value in values]
    came = LIBC.syscall(ctypes.c_long(AIM["numbers"][name]), *given)
    if came < 0:
        raise OSError(ctypes.get_errno(), name)
    return came


def buffer(size=256):
    return ctypes.cast(ctypes.create_string_buffer(size), ctypes.c_char_p)


def has_mark(path):
    with open(path, "rb") as file:
        return MARK.encode() in file.read()


# files outside


@probe
def read_outside():
    return has_mark(CANARY)


@probe
def read_outside_through_a_link():
    os.symlink(CANARY, "link")
    return has_mark("link")


@probe
def read_outside_through_a_hard_link():
    os.link(CANARY, "hard")
    return has_mark("hard")


@probe
def read_outside_by_relative_path():
    return has_mark(os.path.relpath(CANARY))


@probe
def read_outside_with_a_copied_program():
    return os.system(f"cp $(command -v cat) mine && ./mine {CANARY} | grep -q {MARK}") == 0


@probe
def read_outside_with_a_program_in_memory():
    memory = os.memfd_create("program")
    with open("/bin/cat", "rb") as program:
        os.write(memory, program.read())
    reading, writing = os.pipe()
    if not os.fork():
        os.dup2(writing, 1)
        os.execv(f"/proc/self/fd/{memory}", ["cat", CANARY])
    os.close(writing)
    return MARK.encode() in os.read(reading, 1000)


@probe
def list_outside():
    return "canary" in os.listdir(os.path.dirname(CANARY))


@probe
def append_outside():
    with open(CANARY, "a") as file:
        return file.write(" more") > 0


@probe
def cut_outside():
    return os.truncate(CANARY + ".cut", 0) is None


@probe
def remove_outside():
    return os.unlink(CANARY + ".remove") is None


@probe
def rename_outside():
    return os.rename(CANARY + ".rename", CANARY + ".renamed") is None


@probe
def move_into_the_tree():
    os.rename(CANARY + ".move", "moved")
    return has_mark("moved")


@probe
def make_a_file_outside():
    return os.close(os.open(CANARY + ".new", os.O_CREAT | os.O_WRONLY)) is None


@probe
def make_a_folder_outside():
    return os.mkdir(CANARY + ".folder") is None


@probe
def make_a_link_outside():
    return os.symlink("/", CANARY + ".link") is None


@probe
def make_a_pipe_outside():
    return os.mkfifo(CANARY + ".pipe") is None


@probe
def write_into_a_pipe_outside():
    pipe = os.open(CANARY + ".fifo", os.O_WRONLY | os.O_NONBLOCK)
    return os.write(pipe, b"out") == 3


@probe
def see_a_file_outside():
    return os.stat(CANARY).st_size > 0


@probe
def change_a_mode_outside():
    return os.chmod(CANARY, 0o600) is None


@probe
def change_times_outside():
    return os.utime(CANARY, (1, 1)) is None


@probe
def change_a_group_outside():
    return os.chown(CANARY, -1, os.getgid()) is None


@probe
def read_an_attribute_outside():
    return os.getxattr(CANARY, "user.keep") == MARK.encode()


@probe
def set_an_attribute_outside():
    return os.setxattr(CANARY, "user.new", b"x") is None


@probe
def remove_an_attribute_outside():
    return os.removexattr(CANARY, "user.lose") is None


@probe
def list_attributes_outside():
    return "user.keep" in os.listxattr(CANARY)


@probe
def watch_a_folder_outside():
    watching = call("inotify_init1", 0)
    return call("inotify_add_watch", watching, os.path.dirname(CANARY).encode(), 0xFFF) > 0


@probe
def watch_a_folder_outside_by_fanotify():
    watching = call("fanotify_init", 0x200, 0)  # FAN_REPORT_FID needs no privileges
    return call("fanotify_mark", watching, 1, 0x20, AT_FDCWD, os.path.dirname(CANARY).encode()) == 0


@probe
def know_a_file_outside_by_its_handle():
    handle = ctypes.cast(ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 200), ctypes.c_char_p)
    return call("name_to_handle_at", AT_FDCWD, CANARY.encode(), handle, buffer(8), 0) == 0


# what can be read, must not be changed


@probe
def write_what_is_readable():
    return os.close(os.open(READABLE, os.O_WRONLY)) is None


@probe
def write_what_is_readable_through_its_descriptor():
    return os.close(os.open(f"/proc/self/fd/{os.open(READABLE, os.O_RDONLY)}", os.O_WRONLY)) is None


@probe
def add_to_a_readable_folder():
    return os.close(os.open(READABLE + ".new", os.O_CREAT | os.O_WRONLY)) is None


@probe
def remove_what_is_readable():
    return os.unlink(READABLE + ".remove") is None


@probe
def change_a_mode_of_what_is_readable():
    return os.fchmod(os.open(READABLE, os.O_RDONLY), 0o600) is None


@probe
def change_flags_of_what_is_readable():
    """`chattr`: asked of a descriptor for reading."""
    flags = struct.pack("l", 0x40)
    return fcntl.ioctl(os.open(READABLE, os.O_RDONLY), 0x40086602, flags) is not None


@probe
def set_an_attribute_of_what_is_readable():
    return os.setxattr(os.open(READABLE, os.O_RDONLY), "user.new", b"x") is None


# files of the tree that have the rights of their owner


@probe
def make_a_file_that_runs_as_its_owner():
    os.close(os.open("mode", os.O_CREAT | os.O_WRONLY))
    os.chmod("mode", 0o4755)
    return bool(os.stat("mode").st_mode & 0o6000)


@probe
def open_a_file_that_runs_as_its_owner():
    os.close(os.open("opened", os.O_CREAT | os.O_WRONLY, 0o4755))
    return bool(os.stat("opened").st_mode & 0o6000)


@probe
def make_it_so_with_a_newer_call():
    os.close(os.open("newer", os.O_CREAT | os.O_WRONLY))
    call("fchmodat2", AT_FDCWD, b"newer", 0o4755, 0)
    return bool(os.stat("newer").st_mode & 0o6000)


@probe
def make_a_device():
    return os.mknod("disk", 0o60600, os.makedev(7, 0)) is None


# other processes


@probe
def read_its_environment():
    return has_mark(f"/proc/{VICTIM}/environ")


@probe
def read_its_command_line():
    return b"sleep" in open(f"/proc/{VICTIM}/cmdline", "rb").read()


@probe
def open_its_memory():
    return os.close(os.open(f"/proc/{VICTIM}/mem", os.O_RDWR)) is None


@probe
def go_through_its_root():
    return has_mark(f"/proc/{VICTIM}/root{CANARY}")


@probe
def go_through_its_folder():
    return has_mark(f"/proc/{VICTIM}/cwd/canary")


@probe
def go_through_its_descriptors():
    return has_mark(f"/proc/{VICTIM}/fd/0")


@probe
def signal_it():
    return os.kill(VICTIM, signal.SIGCONT) is None


@probe
def signal_its_thread():
    return call("tgkill", VICTIM, VICTIM, signal.SIGCONT) == 0


@probe
def signal_its_group():
    return os.killpg(VICTIM, signal.SIGCONT) is None


@probe
def signal_it_by_a_descriptor():
    return call("pidfd_send_signal", os.pidfd_open(VICTIM), signal.SIGCONT, 0, 0) == 0


@probe
def queue_a_signal_for_it():
    told = ctypes.cast(ctypes.create_string_buffer(struct.pack("iii", signal.SIGCONT, 0, -1), 128), ctypes.c_char_p)
    return call("rt_sigqueueinfo", VICTIM, signal.SIGCONT, told) == 0


@probe
def trace_it():
    return call("ptrace", 0x4206, VICTIM, 0, 0) == 0


@probe
def read_its_memory():
    with open(f"/proc/{VICTIM}/maps") as file:
        start = int(file.readline().partition("-")[0], 16)
    held = ctypes.create_string_buffer(8)
    near = struct.pack("PN", ctypes.addressof(held), 8)
    return call("process_vm_readv", VICTIM, near, 1, struct.pack("PN", start, 8), 1, 0) == 8


@probe
def take_its_descriptor():
    taken = call("pidfd_getfd", os.pidfd_open(VICTIM), 0, 0)
    return MARK.encode() in os.pread(taken, 1000, 0)


@probe
def compare_it():
    return call("kcmp", VICTIM, os.getpid(), 0, 0, 0) >= 0


@probe
def find_its_locks():
    return call("get_robust_list", VICTIM, buffer(8), buffer(8)) == 0


@probe
def lower_its_priority():
    return os.setpriority(os.PRIO_PROCESS, VICTIM, 5) is None


@probe
def lower_the_priority_of_its_group():
    return os.setpriority(os.PRIO_PGRP, VICTIM, 6) is None


@probe
def lower_its_priority_for_the_disk():
    return call("ioprio_set", 1, VICTIM, 3 << 13) == 0


@probe
def change_its_scheduler():
    return os.sched_setscheduler(VICTIM, os.SCHED_BATCH, os.sched_param(0)) is None


@probe
def change_its_scheduler_with_a_newer_call():
    told = struct.pack("IIQiIQQQ", 48, 3, 0, 7, 0, 0, 0, 0)
    return call("sched_setattr", VICTIM, told, 0) == 0


@probe
def change_its_processors():
    return os.sched_setaffinity(VICTIM, {0}) is None


@probe
def change_its_limits():
    return call("prlimit64", VICTIM, 4, struct.pack("QQ", 0, 2**64 - 1), 0) == 0


@probe
def move_its_memory():
    return call("migrate_pages", VICTIM, 2, struct.pack("Q", 1), struct.pack("Q", 1)) >= 0


@probe
def put_its_memory_out():
    page = struct.pack("PN", 0, 0)
    return call("process_madvise", os.pidfd_open(VICTIM), page, 1, 20, 0) >= 0


@probe
def enter_its_namespaces():
    return call("setns", os.open(f"/proc/{VICTIM}/ns/uts", os.O_RDONLY), 0) == 0


# objects that have a key or a name


@probe
def attach_shared_memory():
    segment = LIBC.shmget(AIM["key"], 64, 0)
    LIBC.shmat.restype = ctypes.c_void_p
    place = LIBC.shmat(segment, None, 0)
    return segment >= 0 and MARK.encode() in ctypes.string_at(place, 64)


@probe
def remove_shared_memory():
    return call("shmctl", AIM["segment"], 2, buffer(256)) == 0  # IPC_STAT; IPC_RMID goes the same way


@probe
def read_a_message_queue():
    queue = call("msgget", AIM["key"], 0)
    return queue >= 0


@probe
def write_to_a_message_queue():
    return call("msgsnd", AIM["queue"], struct.pack("l8s", 1, b"out"), 8, 0o4000) == 0


@probe
def find_semaphores():
    return call("semget", AIM["key"], 1, 0) >= 0


@probe
def change_semaphores():
    return call("semop", AIM["semaphores"], struct.pack("Hhh", 0, 1, 0o4000), 1) == 0


@probe
def open_a_posix_queue():
    return call("mq_open", AIM["posix_queue"].encode(), os.O_RDWR, 0, 0) >= 0


@probe
def open_shared_memory_by_name():
    return has_mark(f"/dev/shm/{MARK}")


@probe
def use_the_users_keys():
    return call("keyctl", 0, -4, 1) > 0  # of the user's own keyring


# the network


def reach(family, kind, place):
    with socket.socket(family, kind) as out:
        out.settimeout(1)
        out.connect(place)
        return out.send(b"out") == 3


@probe
def connect_by_tcp():
    return reach(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", AIM["tcp"]))


@probe
def listen_on_the_network():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", AIM["tcp"] + 1 if AIM["tcp"] < 65000 else 0))
        listening.listen()
        return os.readlink("/proc/self/ns/net") == AIM["network"]


@probe
def connect_to_a_socket():
    return reach(socket.AF_UNIX, socket.SOCK_STREAM, AIM["unix"])


@probe
def connect_to_a_socket_through_a_link():
    os.symlink(AIM["unix"], "socket")
    return reach(socket.AF_UNIX, socket.SOCK_STREAM, "socket")


@probe
def connect_to_an_abstract_socket():
    return reach(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + MARK)


@probe
def send_to_a_socket():
    return reach(socket.AF_UNIX, socket.SOCK_DGRAM, AIM["datagram"])


@probe
def send_to_a_socket_from_a_pair():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return one.sendto(b"out", AIM["datagram"]) == 3


@probe
def speak_to_a_virtual_machine():
    return socket.socket(40, socket.SOCK_STREAM).close() is None


@probe
def use_the_kernels_ciphers():
    return socket.socket(38, socket.SOCK_SEQPACKET).close() is None


@probe
def hear_all_packets():
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close() is None


# the kernel


@probe
def make_a_user_namespace():
    return call("unshare", 0x10000000) == 0


@probe
def clone_into_a_user_namespace():
    if not (child := call("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)):
        os._exit(0)
    return child > 0


@probe
def clone_with_a_newer_call():
    told = struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    if not (child := call("clone3", told, len(told))):
        os._exit(0)
    return child > 0


@probe
def mount_a_folder():
    os.mkdir("mounted")
    return call("mount", os.path.dirname(CANARY).encode(), b"mounted", 0, 0x1000, 0) == 0 and not call("umount2", b"mounted", 2)


@probe
def open_a_mount():
    return call("open_tree", AT_FDCWD, os.path.dirname(CANARY).encode(), 0) >= 0


@probe
def open_a_file_system():
    return call("fsopen", b"tmpfs", 0) >= 0


@probe
def change_the_root():
    return os.chroot(".") is None


@probe
def open_a_setting_of_the_kernel():
    return os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)) is None


@probe
def name_the_machine():
    name = os.uname().nodename.encode()
    return call("sethostname", name, len(name)) == 0


@probe
def read_the_kernels_log():
    return call("syslog", 10, 0, 0) >= 0


@probe
def load_a_program_into_the_kernel():
    return call("bpf", 0, struct.pack("IIIII", 2, 4, 4, 1, 0) + bytes(100), 120) >= 0


@probe
def count_events():
    return call("perf_event_open", struct.pack("IIQ", 1, 128, 0) + bytes(112), 0, -1, -1, 0) >= 0


@probe
def handle_page_faults():
    return call("userfaultfd", 1) >= 0


@probe
def queue_calls_past_the_filter():
    return call("io_uring_setup", 1, buffer(120)) >= 0


@probe
def type_for_the_user():
    side = os.openpty()[1]
    os.setsid()
    fcntl.ioctl(side, 0x540E, 0)
    try:
        fcntl.ioctl(side, 0x5412, b"x")
    except OSError as refused:
        return refused.errno == 5  # the machine itself has switched it off
    return True


@probe
def seal_memory_from_the_kernel():
    return call("memfd_secret", 0) >= 0


def try_probe(function):
    """In a process of its own, which may be ended for it."""
    child = os.fork()
    if not child:
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        signal.alarm(10)
        try:
            os._exit(OUT if function() else HELD)
        except OSError as refused:
            os._exit(refused.errno if 0 < (refused.errno or 0) < OUT else HELD)
        except BaseException:
            os._exit(255)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main():
    folder = f"probe-{os.getpid()}-{time.monotonic_ns()}"
    os.mkdir(folder)
    os.chdir(folder)
    print(json.dumps({name: try_probe(function) for name, function in PROBES.items()}))


if __name__ == "__main__":
    main()
