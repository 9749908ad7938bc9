# SPDX-License-Identifier: Apache-2.0
"""Result files of commands: complete or as before, whatever ends the command; no other file remains.

usage: test_outputs.py DEVICEPOOL VECTORS-DIRECTORY
"""
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

TOOL, VECTORS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]) + "/iden3"
KEY, WITNESS = VECTORS + "/poseidon_bn254.zkey", VECTORS + "/poseidon_bn254.wtns"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
os.environ["DEVICEPOOL_DEVICES"] = "sim:1"


def run(*arguments, **options):
    return subprocess.run([TOOL, *arguments, "-q"], stderr=subprocess.PIPE, text=True, **options)


def write(name, content="old"):
    with open(name, "w") as file:
        file.write(content)


def read(name):
    with open(name) as file:
        return file.read()


def names():
    return sorted(os.listdir("."))


def check_refused(reason, *arguments):
    before = {name: os.lstat(name) for name in names()}
    done = run(*arguments)
    assert done.returncode == 1 and reason in done.stderr, (arguments, done)
    after = {name: os.lstat(name) for name in names()}
    assert before.keys() == after.keys(), (arguments, names())
    for name in before:
        assert before[name].st_mtime_ns == after[name].st_mtime_ns, (arguments, name)


def test_success():
    write("public.json")
    os.chmod("public.json", 0o640)
    os.symlink("behind", "link")
    done = run("prove", KEY, WITNESS, "link", "public.json")
    assert done.returncode == 0, done
    assert os.path.islink("link") and json.loads(read("behind"))["protocol"] == "groth16"
    assert stat.S_IMODE(os.stat("public.json").st_mode) == 0o640
    assert json.loads(read("public.json")) == json.load(open(VECTORS + "/poseidon_bn254_public.json"))
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(os.stat("behind").st_mode) == 0o666 & ~umask
    assert names() == ["behind", "link", "public.json"], names()


def test_refused():
    write("old")
    with open(WITNESS, "rb") as source, open("witness", "wb") as copy:
        copy.write(source.read())
    os.symlink("witness", "symbolic")
    os.link("witness", "hard")
    os.symlink("loop", "loop")
    os.mkdir("directory")
    os.symlink("directory", "same")
    for output in "witness", "./witness", "symbolic", "hard":
        check_refused("is also an input", "prove", KEY, "witness", output, "new")
        check_refused("is also an input", "prove", KEY, "witness", "new", output)
        check_refused("is also an input", "ntt", "wtns:witness", "-b", "215", "-o", output)
        check_refused("is also an input", "msm", f"zkey:{KEY}:A", "wtns:witness", "-o", output)
        check_refused("is also an input", "poseidon", "sponge", "--bytes", "witness", "-o", output)
    check_refused("two outputs", "prove", KEY, "witness", "old", "./old")
    check_refused("two outputs", "prove", KEY, "witness", "new", "./new")
    check_refused("two outputs", "prove", KEY, "witness", "directory/new", "same/new")
    for output, reason in (("directory", "Is a directory"), ("loop", "symbolic links"),
            ("none/new", "No such file"), ("old/new", "Not a directory"), ("", "No such file")):
        check_refused(reason, "prove", KEY, "witness", "new", output)
    # The second output fails after the first was written.
    check_refused("No space left", "prove", KEY, "witness", "old", "/dev/full")
    check_refused("No space left", "prove", KEY, "witness", "/dev/full", "new")
    if os.geteuid():
        os.chmod("directory", 0o500)
        check_refused("takes no new file", "prove", KEY, "witness", "directory/new", "new")
        os.chmod("old", 0o400)
        check_refused("Permission denied", "prove", KEY, "witness", "old", "new")


def test_direct():
    piped = run("prove", KEY, WITNESS, "/dev/stdout", "public.json", stdout=subprocess.PIPE)
    assert json.loads(piped.stdout)["protocol"] == "groth16", piped
    write("log", "before\n")
    with open("log", "a") as log:  # neither truncated nor replaced
        assert run("prove", KEY, WITNESS, "/dev/stdout", "/dev/null", stdout=log).returncode == 0
    assert read("log").startswith("before\n{"), read("log")
    assert names() == ["log", "public.json"], names()


def full_pipe():
    """A pipe that takes no more: a command that has written its files waits here."""
    os.mkfifo("pipe")
    end = os.open("pipe", os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, 4096)
    try:
        while True:
            os.write(end, b"x" * 4096)
    except BlockingIOError:
        return end


def test_signals():
    """The new file exists while a signal ends the command."""
    end = full_pipe()
    write("proof.json")
    for number in SIGNALS:
        child = subprocess.Popen([TOOL, "prove", KEY, WITNESS, "proof.json", "pipe"], stderr=subprocess.DEVNULL,
            preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in SIGNALS])
        while len(names()) < 3:
            assert child.poll() is None, child.returncode
            time.sleep(0.05)
        child.send_signal(number)
        assert child.wait() == -number, child.returncode
        assert names() == ["pipe", "proof.json"] and read("proof.json") == "old", names()
    os.close(end)


def main():
    if run("prove", KEY, WITNESS, "/dev/null", "/dev/null").returncode == 4:
        return 77  # no compiler
    for test in test_success, test_refused, test_direct, test_signals:
        with tempfile.TemporaryDirectory() as directory:
            os.chdir(directory)
            test()
            os.chdir("/")
    return 0


sys.exit(main())
