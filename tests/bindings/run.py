#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a binding and its conformance program, runs that, and compares its answers with those of rows.txt; also what only
this language has. Exits with 77, and says what is missing, where there is no toolchain.
usage: run.py SOURCE BUILD rows | c PROGRAM | LANGUAGE"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
source, build, language = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
tests, bindings = source / "tests/bindings", source / "src/bindings"
rows = tests / "rows.txt"


def skip(text):
    print(f"skipped: {text}")
    sys.exit(SKIPPED)


def must(command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)}: exit code {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def compare(command, **options):
    """The answers of a conformance program, which prints them in the order of the rows."""
    expected = []
    for line in rows.read_text(encoding="utf-8").splitlines():
        if line.startswith("row "):
            expected.append(f"{line.split()[1]} {line.partition(' = ')[2]}")
    done = subprocess.run([str(word) for word in command] + [str(rows)], capture_output=True, text=True, check=False,
                          **options)
    answers = done.stdout.splitlines()
    wrong = [f"{answer}, expected {right}" for answer, right in zip(answers, expected) if answer != right]
    if done.returncode or len(answers) != len(expected):
        wrong.append(f"{len(answers)} answers of {len(expected)}, exit code {done.returncode}\n{done.stderr[-4000:]}")
    if wrong or len(expected) < 60:
        sys.exit("\n".join(wrong))
    print(f"{language}: {len(answers)} rows are right")


def expect_failure(command, text, **options):
    """What is missing is said, with what to do."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if not done.returncode or text not in done.stderr:
        sys.exit(f"{' '.join(str(word) for word in command)}: exit code {done.returncode}, not '{text}' but\n{done.stderr}")


def work_directory():
    """Kept from one run to the next, as compilers keep what they have compiled."""
    path = build / "tests/bindings" / language
    path.mkdir(parents=True, exist_ok=True)
    return path


def check_rows():
    with tempfile.TemporaryDirectory() as directory:
        made = pathlib.Path(directory, "rows.txt")
        must([sys.executable, tests / "rows.py", source / "tests/vectors", made])
        if made.read_bytes() != rows.read_bytes():
            sys.exit("rows.txt is not what rows.py writes: python3 tests/bindings/rows.py tests/vectors tests/bindings/rows.txt")
    print("rows.txt is what rows.py writes")


def check_c():
    compare([sys.argv[4]])


def check_python():
    # The interpreter that has numpy, if one has.
    interpreters = [sys.executable, "/usr/bin/python3"]
    interpreter = next((path for path in interpreters if os.path.exists(path) and not subprocess.run(
        [path, "-c", "import numpy"], capture_output=True, check=False).returncode), interpreters[0])
    environment = dict(os.environ, PYTHONPATH=str(bindings / "python"), PYTHONDONTWRITEBYTECODE="1")
    compare([interpreter, tests / "conformance.py"], env=environment)
    print(must([interpreter, tests / "python_layer.py"], env=environment).rstrip())
    print(must([interpreter, bindings / "python/examples/msm.py", "sim:2"], env=environment).rstrip())
    load = [interpreter, "-c", "import devicepool; devicepool.load()"]
    expect_failure(load, "name its directory in LD_LIBRARY_PATH, or the file in DEVICEPOOL_LIBRARY",
                   env=dict(environment, DEVICEPOOL_LIBRARY="/nothing.so"))
    expect_failure(load, "is of another version than this binding", env=dict(environment, DEVICEPOOL_LIBRARY="libc.so.6"))
    check_wheel(interpreter)


def check_cpp():
    compilers = [path for path in map(shutil.which, ("g++", "clang++")) if path]
    if not compilers:
        skip("there is no g++ and no clang++")
    work, options = work_directory(), ["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", f"-I{source}/include"]
    link = [f"-L{build}/src", "-ldevicepool", "-pthread"]
    must([compilers[0], *options, tests / "conformance.cpp", "-o", work / "conformance", *link])
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{build}/src")
    compare([work / "conformance"], env=environment)
    must([compilers[0], *options, bindings / "cpp/examples/msm.cpp", "-o", work / "msm", *link])
    print(must([work / "msm", "sim:2"], env=environment).rstrip())
    # What must not compile: results in constant memory, a lost result, a copy of an owner.
    head = "#include <devicepool/devicepool.hpp>\nusing namespace devicepool;\nvoid f(domain &d, const bytes &in, bytes &out) { "
    for is_right, line in ((True, "ntt(d, in, out, device()).value(); domain other = std::move(d);"),
                           (False, "ntt(d, in, in, device()).value();"), (False, "ntt(d, in, out, device());"),
                           (False, "domain other = d;")):
        done = subprocess.run([compilers[0], *options, "-Wno-unused-variable", "-Wno-unused-parameter", "-fsyntax-only", "-x", "c++", "-"],
                              input=f"{head}{line} }}\n", capture_output=True, text=True, check=False)
        if (done.returncode == 0) != is_right:
            sys.exit(f"{line} {'does not compile' if is_right else 'compiles'}\n{done.stderr}")


def check_wheel(interpreter):
    """The package as pip would build it, imported from the wheel alone."""
    if subprocess.run([interpreter, "-c", "import setuptools, wheel; assert int(setuptools.__version__.split('.')[0]) > 60"],
                      capture_output=True, check=False).returncode:
        print("no wheel is built: setuptools or wheel is missing")
        return
    with tempfile.TemporaryDirectory() as directory:
        package = shutil.copytree(bindings / "python", pathlib.Path(directory, "python"))
        must([interpreter, "-c", "import setuptools.build_meta as b; b.build_wheel('dist')"], cwd=package)
        wheel = next(package.glob("dist/*.whl"))
        environment = dict(os.environ, PYTHONPATH=str(wheel))
        must([interpreter, "-c", "import devicepool as dp; assert len(dp.Pool('sim:2')) == 2 and '.whl' in dp.__file__"],
             env=environment, cwd=directory)
        print(f"{wheel.name} works")


def check_rust():
    cargo, rustc = shutil.which("cargo"), shutil.which("rustc")
    if not cargo or not rustc:
        skip("there is no cargo or no rustc")
    work = work_directory()
    crates = work / "crates"
    shutil.rmtree(crates, ignore_errors=True)
    shutil.copytree(bindings / "rust", crates, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    shutil.copy(tests / "conformance.rs", crates / "devicepool/examples")
    environment = dict(os.environ, CARGO_TARGET_DIR=str(work / "target"), DEVICEPOOL_LIB_DIR=f"{build}/src",
                       LD_LIBRARY_PATH=f"{build}/src", RUSTFLAGS="-D warnings")
    must([cargo, "build", "--offline", "--lib", "--examples"], cwd=crates / "devicepool", env=environment)
    must([cargo, "test", "--offline", "--quiet", "--doc"], cwd=crates / "devicepool", env=environment)
    examples = work / "target/debug/examples"
    compare([examples / "conformance"], env=environment)
    print(must([examples / "msm", "sim:2"], env=environment).rstrip())
    # What must not compile: a binding on another thread, results in shared memory, a kernel that outlives its module, a
    # lease that outlives what uses it.
    for is_right, body in ((True, "let b = d.bind().unwrap(); drop(b);"),
                           (False, "let b = d.bind().unwrap(); std::thread::spawn(move || drop(b));"),
                           (True, "let mut v = vec![0u8; 8]; ntt_in_place(n, Transform::default(), &mut v, Exec::on(d)).unwrap();"),
                           (False, "let v = vec![0u8; 8]; ntt_in_place(n, Transform::default(), &v, Exec::on(d)).unwrap();"),
                           (False, "let k = { let m = d.load(b\"\").unwrap(); m.kernel(\"f\").unwrap() }; let _ = k;"),
                           (False, "let e = { let l = d.pool().acquire(&Request::default()).unwrap(); Exec::under(&l) }; let _ = e;")):
        source_text = f"use devicepool::*;\npub fn f(d: &Device, n: &Domain) {{ let _ = n; {body} }}\n"
        done = subprocess.run([rustc, "--edition", "2021", "--crate-type", "lib", "--emit", "metadata", "-o", work / "snippet",
                               "--extern", f"devicepool={work}/target/debug/libdevicepool.rlib", "-L",
                               f"dependency={work}/target/debug/deps", "-"], input=source_text, capture_output=True, text=True,
                              check=False)
        if (done.returncode == 0) != is_right:
            sys.exit(f"{body} {'does not compile' if is_right else 'compiles'}\n{done.stderr}")


def check_go():
    go = shutil.which("go")
    if not go or not shutil.which("gcc") and not shutil.which("clang"):
        skip("there is no go, or no compiler of C for cgo")
    work = work_directory()
    module = work / "module"
    shutil.rmtree(module, ignore_errors=True)
    shutil.copytree(bindings / "go", module)
    (module / "conformance").mkdir()
    shutil.copy(tests / "conformance.go", module / "conformance/main.go")
    environment = dict(os.environ, CGO_CFLAGS=f"-O1 -I{source}/include -Wall", PKG_CONFIG="true",
                       CGO_LDFLAGS=f"-L{build}/src -ldevicepool", GOPROXY="off", LD_LIBRARY_PATH=f"{build}/src",
                       GOFLAGS="-mod=mod -trimpath",
                       GOCACHE=os.environ.get("GOCACHE", str(build / "tests/bindings/go-cache")))
    must([go, "build", "-o", f"{work}/", "./conformance", "./examples/msm"], cwd=module, env=environment)
    compare([work / "conformance"], env=environment)
    print(must([work / "msm", "sim:2"], env=environment).rstrip())
    must([go, "vet", ".", "./conformance", "./examples/msm"], cwd=module, env=environment)


def check_node():
    node = shutil.which("node")
    if not node or not shutil.which("cc"):
        skip("there is no node, or no cc")
    environment = dict(os.environ, DEVICEPOOL_NODE_BUILD=str(work_directory()), LD_LIBRARY_PATH=f"{build}/src",
                       DEVICEPOOL_FLAGS=f"-I{source}/include -L{build}/src -ldevicepool")
    done = subprocess.run([node, bindings / "node/build.js"], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        skip(done.stderr.strip()) if "node_api.h is not found" in done.stderr else sys.exit(done.stderr)
    if "warning" in done.stderr:
        sys.exit(done.stderr)
    compare([node, tests / "conformance.js", bindings / "node"], env=environment)
    print(must([node, bindings / "node/examples/msm.js", "sim:2"], env=environment).rstrip())
    expect_failure([node, bindings / "node/build.js"], "set PKG_CONFIG_PATH to the directory of devicepool.pc",
                   env=dict({name: value for name, value in environment.items() if name != "DEVICEPOOL_FLAGS"}, PKG_CONFIG="false"))
    load = [node, "-e", "require(process.argv[1])", bindings / "node"]
    expect_failure(load, "the addon is not built: run node", env=dict(environment, DEVICEPOOL_NODE_BUILD="/nothing"))
    expect_failure(load, "LD_LIBRARY_PATH may name its directory", env=dict(environment, LD_LIBRARY_PATH="/nothing"))
    expect_failure([node, "-e", "new (require(process.argv[1]).Pool)('sim:0')", bindings / "node"], "\nPOOL_ERR_INVALID_ARGUMENT: device",
                   env=environment)
    # What is wrong is refused, not passed on.
    for body in ("dp.raw.pool_device_count()", "dp.raw.pool_device_at({}, 0, null)", "dp.raw.pool_device_at(0.5, 0, null)",
                 "new dp.Struct('pool_nothing')", "new dp.Struct('pool_params', { nothing: 1 })",
                 "pool.pick(0, () => { throw new RangeError('mine') })", "new dp.Field('bn254_fr').toMontgomery(Buffer.alloc(3))",
                 "(() => { const b = pool.at(0).alloc(8); b.close(); b.byteLength; })()"):
        script = f"const dp = require(process.argv[1]); const pool = new dp.Pool('sim:1'); try {{ {body}; }} catch (e) {{ console.log('refused'); }}"
        if must([node, "-e", script, bindings / "node"], env=environment).strip() != "refused":
            sys.exit(f"{body} is not refused")


checks = {"rows": check_rows, "c": check_c, "cpp": check_cpp, "go": check_go, "node": check_node,
          "python": check_python, "rust": check_rust}
checks[language]()
