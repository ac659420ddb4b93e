"""Run a command of this checkout under another kernel, one that has cgroup v2.

    python tests/vm/run_in_vm.py [--machine qemu|uml] [--user UID] COMMAND...

The machine sees the host's files read-only, with a layer in its memory for what it writes, so it
leaves nothing behind. The command runs in /sys/fs/cgroup/referee, delegated to its user with the
cpu, memory and pids controllers. Its output is printed and its exit status returned; 124 says that
the time was up, 125 that the machine failed, 2 that something is not installed.

qemu boots the kernel that Debian ships, with several processors; it is the default where KVM is at
hand, and very slow elsewhere. There the default is uml, Linux as a process of the host: it computes
as fast as the host, but system calls and new processes cost several times more, there is one
processor, and CPU clocks tick only every 10 ms.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
BOOT_OPTIONS = "quiet panic=-1 cgroup_no_v1=all"
HARDWARE = (Path("/sys/module/kvm_intel"), Path("/sys/module/kvm_amd"))
UML_MODULES = Path("/usr/lib/uml/modules")
XZ = b"\xfd7zXZ\x00"
# Both machines start helpers; in a PID namespace nothing outlives this script.
ENDS_WITH_US = (
    *("bwrap", "--die-with-parent", "--unshare-pid"),
    *("--dev-bind", "/", "/", "--proc", "/proc", "--"),
)
TIME_UP = 124
FAILED = 125


@dataclass(frozen=True)
class Machine:
    """A way to run another kernel: what it needs, and what its first process has to know."""

    commands: dict[str, str]  # that it alone needs, and the packages that bring them
    kernel_package: str
    modules: tuple[str, ...]
    files: tuple[str, str]  # type and options that mount the host's files
    output: str
    status: str


TOOLS = {"busybox": "busybox-static", "bwrap": "bubblewrap"}
MACHINES = {
    "qemu": Machine(
        commands={"qemu-system-x86_64": "qemu-system-x86"},
        kernel_package="linux-image-amd64",
        modules=("virtio_pci", "9pnet_virtio", "9p", "overlay"),
        files=("9p", "ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose"),
        output="/dev/ttyS1",
        status="/dev/ttyS2",
    ),
    "uml": Machine(
        commands={"linux.uml": "user-mode-linux"},
        kernel_package="user-mode-linux",
        modules=("overlay",),
        files=("hostfs", "ro"),
        output="/dev/tty1",
        status="/dev/tty2",
    ),
}


def module_folder(name: str) -> Path | None:
    """Where the modules are of the newest installed kernel that serves this machine."""
    if name == "uml":
        folders = list(UML_MODULES.glob("*"))
    else:
        found = Path("/lib/modules").glob("*/kernel/fs/9p")
        folders = [path.parents[2] for path in found if image(path.parents[2]).exists()]
    return max(folders, key=lambda folder: folder.stat().st_mtime_ns, default=None)


def image(modules: Path) -> Path:
    return Path(f"/boot/vmlinuz-{modules.name}")


def lacking(name: str) -> list[str]:
    machine = MACHINES[name]
    needed = TOOLS | machine.commands
    packages = [package for command, package in needed.items() if not shutil.which(command)]
    if module_folder(name) is None:
        packages.append(machine.kernel_package)
    return list(dict.fromkeys(packages))


def module_files(folder: Path, wanted: Iterable[str]) -> list[Path]:
    """The files of the modules and of what they need, in the order in which they load."""
    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        name, _, rest = line.partition(":")
        # A module's needs are listed from the nearest to the farthest.
        needs[Path(name).name.partition(".")[0]] = [*reversed(rest.split()), name]
    ordered = dict.fromkeys(file for module in wanted for file in needs.get(module, ()))
    return [folder / file for file in ordered]


def write_initramfs(target: Path, machine: Machine, folder: Path, job: dict[str, object]) -> None:
    tree = target.with_suffix(".tree")
    for name in ("bin", "modules", "job"):
        (tree / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox") or "busybox", tree / "bin" / "busybox")
    shutil.copy(HERE / "init", tree / "init")
    (tree / "init").chmod(0o755)
    order = []
    for file in module_files(folder, machine.modules):
        data = file.read_bytes()
        order.append(file.name.removesuffix(".xz") + "\n")
        plain = lzma.decompress(data) if data.startswith(XZ) else data
        (tree / "modules" / order[-1].strip()).write_bytes(plain)
    (tree / "modules" / "order").write_text("".join(order))
    texts = {
        "type": machine.files[0],
        "options": machine.files[1],
        "python": sys.executable,
        "guest": str(HERE / "guest.py"),
        "job": json.dumps(job),
    }
    for name, text in texts.items():
        (tree / "job" / name).write_text(text)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    pack = ["busybox", "cpio", "-o", "-H", "newc"]
    with target.open("wb") as archive:
        subprocess.run(
            pack,
            cwd=tree,
            input=names.encode(),
            stdout=archive,
            stderr=subprocess.DEVNULL,
            check=True,
        )


def unpacked(kernel: Path, target: Path) -> Path:
    """The kernel without its xz packing, which an emulated processor takes seconds to undo."""
    data = kernel.read_bytes()
    start, length = struct.unpack_from("<II", data, 0x248)  # of the payload, after the setup code
    start += (data[0x1F1] + 1) * 512
    payload = data[start : start + length]
    if not payload.startswith(XZ):
        return kernel
    target.write_bytes(lzma.LZMADecompressor().decompress(payload))
    return target


def has_kvm() -> bool:
    """Whether the processor itself virtualizes: another KVM may need kernels made for it."""
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and any(path.exists() for path in HARDWARE)


def usual_machine() -> str:
    return "qemu" if has_kvm() else "uml"


def qemu(scratch: Path, folder: Path, options: argparse.Namespace) -> list[str]:
    if has_kvm():
        kernel, processor = image(folder), "-accel kvm -cpu host"
    else:
        kernel = unpacked(image(folder), scratch / "vmlinux")
        processor = "-accel tcg,thread=multi,tb-size=512 -cpu max"
    share = "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"
    arguments = (
        "qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot"
        f" {processor} -m {options.memory} -smp {options.cpus}"
        f" -kernel {kernel} -initrd {scratch / 'initramfs'} -virtfs {share}"
        f" -serial file:{scratch / 'console'}"
        " -chardev stdio,id=output,signal=off -serial chardev:output"
        f" -serial file:{scratch / 'status'}"
    )
    return [*arguments.split(), "-append", f"{BOOT_OPTIONS} console=ttyS0 mitigations=off"]


def uml(scratch: Path, console: int, status: int, options: argparse.Namespace) -> list[str]:
    arguments = (
        f"linux.uml mem={options.memory}M initrd={scratch / 'initramfs'} uml_dir={scratch}/"
        f" con0=null,fd:{console} con1=null,fd:1 con2=null,fd:{status} con=null ssl=null"
    )
    return f"{arguments} {BOOT_OPTIONS}".split()


def boot(scratch: Path, folder: Path, options: argparse.Namespace) -> None:
    """Start the machine and wait for its end; raises TimeoutExpired."""
    with (scratch / "console").open("wb") as console, (scratch / "status").open("wb") as status:
        kept = (console.fileno(), status.fileno())
        if options.machine == "uml":
            command = uml(scratch, *kept, options)
        else:
            command = qemu(scratch, folder, options)
        # A standard input that ends would close the machine's line for output.
        process = subprocess.Popen(
            [*ENDS_WITH_US, *command],
            stdin=subprocess.PIPE,
            pass_fds=kept,
        )
    try:
        process.wait(options.timeout)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def run(scratch: Path, options: argparse.Namespace) -> int:
    machine = MACHINES[options.machine]
    folder = module_folder(options.machine)
    assert folder is not None
    job: dict[str, object] = {
        "command": options.command,
        "environment": {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
        },
        "folder": str(CHECKOUT),
        "user": options.user,
        "output": machine.output,
        "status": machine.status,
    }
    write_initramfs(scratch / "initramfs", machine, folder, job)
    try:
        boot(scratch, folder, options)
    except subprocess.TimeoutExpired:
        print(f"run_in_vm: not done after {options.timeout:g} s", file=sys.stderr)
        return TIME_UP
    said = (scratch / "status").read_text().strip()
    if said:
        return int(said)
    print("run_in_vm: the machine ended without a status; its console:", file=sys.stderr)
    print((scratch / "console").read_text(errors="replace"), file=sys.stderr)
    return FAILED


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command under a kernel with cgroup v2.")
    usual = usual_machine()
    parser.add_argument("--machine", choices=sorted(MACHINES), default=usual, help=f"({usual})")
    parser.add_argument("--user", type=int, default=0, metavar="UID", help="run as this user (0)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds (600)")
    parser.add_argument("--memory", type=int, default=3072, help="MiB (3072)")
    parser.add_argument("--cpus", type=int, default=2, help="processors, for qemu (2)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args()
    if not options.command:
        parser.error("COMMAND is missing")
    if packages := lacking(options.machine):
        needs = " ".join(packages)
        print(f"This needs more packages: apt-get install --yes {needs}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        return run(Path(scratch), options)


if __name__ == "__main__":
    sys.exit(main())
