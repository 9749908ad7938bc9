#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/packaging says is what is there.

usage: packages.py files SOURCE TREE PREFIX LIBDIR
           each file of an installation belongs to one package of Debian and one of RPM, and each pattern has files
       packages.py versions SOURCE
           the version in every place where it is written
       packages.py bill SOURCE FILE
           the bill of materials is well-formed and names each dependency of the build and each library that is opened
       packages.py npm SOURCE NPM [BUILD]
           the npm package of the binding for Node has the files that are installed; or it is installed, and used with
           the library of a build
"""
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def lines(path):
    """The lines of a file without comments and empty ones."""
    return [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def debian_packages(source):
    """package -> patterns of paths"""
    directory = source / "docs/packaging/debian"
    packages = {path.stem: [words[0] for words in lines(path)] for path in sorted(directory.glob("*.install"))}
    packages["not-installed"] = [words[0] for words in lines(directory / "not-installed")]
    stanzas = {re.match(r"Package: (.*)", text).group(1): text
               for text in (directory / "control").read_text().split("\n\n") if text.startswith("Package: ")}
    # Packages of a build profile are those of an option that the present build may not have.
    optional = {name for name, text in stanzas.items() if "\nBuild-Profiles: " in text}
    return packages, stanzas.keys() | {"not-installed"}, optional


MACROS = {"_bindir": "usr/bin", "_libexecdir": "usr/libexec", "_libdir": "usr/lib/TRIPLET", "_includedir": "usr/include",
          "_datadir": "usr/share", "_mandir": "usr/share/man"}


def rpm_packages(source):
    """The same of the spec. Directories without their files and the licence are no files of the installation."""
    text = (source / "docs/packaging/devicepool.spec").read_text()
    packages = {}
    for name, body in re.findall(r"^%files *(.*)\n((?:.+\n)*)", text, re.M):
        packages[name or "devicepool"] = [re.sub(r"%\{(\w+)\}", lambda macro: MACROS[macro.group(1)], pattern)
                                          for pattern in body.split("\n") if pattern.startswith("%{")]
    return packages, set(re.findall(r"^%package (.*)$", text, re.M)) | {"devicepool"}, set()


def matches(path, pattern):
    """Whether a pattern names the path or a directory that it is in. A star stays within a name."""
    names, parts = path.split("/"), pattern.strip("/").split("/")
    return len(names) >= len(parts) and all(map(fnmatch.fnmatchcase, names, parts))


def check_files(source, tree, prefix, libdir):
    root = pathlib.Path(tree)
    inside = root / prefix.strip("/")
    libraries = libdir.strip("/") + "/"
    found = []
    for path in sorted(inside.rglob("*")):
        if path.is_symlink() or not path.is_dir():
            name = path.relative_to(inside).as_posix()
            # Debian's libdir has the name of the architecture.
            if name.startswith(libraries):
                name = "lib/TRIPLET/" + name[len(libraries):]
            found.append("usr/" + name)
    wrong = [] if len(found) > 100 else ["too few files are installed"]
    for system, (packages, described, optional) in {"debian": debian_packages(source), "rpm": rpm_packages(source)}.items():
        wrong += [f"{system}: there is no package {name}" for name in packages.keys() - described]
        wrong += [f"{system}: package {name} has no files" for name in described - packages.keys()]
        for path in found:
            owners = [name for name, patterns in packages.items() if any(matches(path, pattern) for pattern in patterns)]
            if len(owners) != 1:
                wrong.append(f"{system}: {path} belongs to {' and '.join(owners) or 'no package'}")
        for name, patterns in packages.items():
            wrong += [f"{system}: {name}: no file is {pattern}" for pattern in patterns
                      if name not in optional and not any(matches(path, pattern) for path in found)]
        print(f"{system}: {len(found)} files belong to {len(packages)} packages")
    # dh_compress leaves out what has one of these anywhere in its path; Debian wants manual pages compressed.
    kept = re.search(r"^\tdh_compress (.*)$", (source / "docs/packaging/debian/rules").read_text(), re.M)[1].split()
    wrong += [f"debian: {path} is not compressed: {item}" for path in found for item in kept
              if path.startswith("usr/share/man/") and item[2:] in path]
    return wrong


def check_versions(source):
    def one(path, pattern):
        text = (source / path).read_text()
        match = re.search(pattern, text, re.M)
        return match.group(1) if match else f"none that is {pattern}"

    version = one("meson.build", r"^  version: '([^']*)'")
    header = source / "include/devicepool/version.h"
    numbers = re.findall(r"^#define POOL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text(), re.M)
    places = {
        "include/devicepool/version.h": ".".join(numbers),
        "docs/CHANGELOG.md": one("docs/CHANGELOG.md", r"^## (\S+)"),
        "docs/packaging/debian/changelog": one("docs/packaging/debian/changelog", r"^devicepool \((.*)-[^-]*\) "),
    }
    for path, pattern in {
        "src/bindings/node/package.json": r'^  "version": "([^"]*)"',
        "src/bindings/python/pyproject.toml": r'^version = "([^"]*)"',
        "src/bindings/python/devicepool/raw.py": r'^VERSION = "([^"]*)"',
        "src/bindings/rust/devicepool/Cargo.toml": r'^version = "([^"]*)"',
        "src/bindings/rust/devicepool-sys/Cargo.toml": r'^version = "([^"]*)"',
    }.items():
        places[path] = one(path, pattern)
    places["src/bindings/rust/devicepool/Cargo.toml, devicepool-sys"] = one(
        "src/bindings/rust/devicepool/Cargo.toml", r'^devicepool-sys = .*version = "([^"]*)"')
    places["docs/packaging/devicepool.spec"] = one("docs/packaging/devicepool.spec", r"^Version: *(\S+)")
    soversions = set(re.findall(r"soversion: '(\d+)'",
                                (source / "src/meson.build").read_text() + (source / "src/mpi/meson.build").read_text()))
    print(f"version {version} in {len(places)} other places")
    wrong = [f"{path}: {found}, but meson.build has {version}" for path, found in places.items() if found != version]
    for name in ["libdevicepool", "libdevicepool-mpi"]:
        for soversion in soversions:
            if not (source / f"docs/packaging/debian/{name}{soversion}.symbols").exists():
                wrong.append(f"there is no package {name}{soversion}, which is the name of the library")
    return wrong


def install_npm(source, npm, build, directory):
    """Packs the package, installs it in another one, and runs the example from there."""
    environment = {**os.environ, "npm_config_cache": f"{directory}/cache", "DEVICEPOOL_FLAGS":
                   f"-I{source.resolve()}/include -L{build}/src -Wl,-rpath,{build}/src -ldevicepool"}

    def run(*command):
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
        if "node_api.h is not found" in done.stderr:
            print(f"skipped: {done.stderr}")
            sys.exit(77)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    tarball = run(npm, "pack", str((source / "src/bindings/node").resolve())).split()[-1]
    pathlib.Path(directory, "package.json").write_text('{"name": "user", "version": "1.0.0", "private": true}')
    run(npm, "install", "--offline", "--no-audit", "--no-fund", f"./{tarball}")
    print(run("node", "node_modules/devicepool/examples/msm.js", "sim"))
    return []


def check_npm(source, npm, build=None):
    if build:
        with tempfile.TemporaryDirectory() as directory:
            return install_npm(source, npm, pathlib.Path(build).resolve(), directory)
    node = source / "src/bindings/node"
    out = subprocess.run([npm, "pack", "--dry-run", "--json", "--ignore-scripts", "--offline"], cwd=node, check=True,
                         capture_output=True, text=True).stdout
    package = json.loads(out)[0]
    packed = {entry["path"] for entry in package["files"]}
    text = (source / "src/bindings/meson.build").read_text()
    installed = set()
    for directory, names in re.findall(r"'node(/?[^']*)': \[([^\]]*)\]", text):
        installed |= {f"{directory.strip('/')}/{name}".strip("/") for name in re.findall(r"'([^']*)'", names)}
    print(f"npm packs {package['name']} {package['version']}: {len(packed)} files")
    return ([f"npm packs {name}, which is not installed" for name in sorted(packed - installed)]
            + [f"npm does not pack {name}, which is installed" for name in sorted(installed - packed)]
            + ([] if len(packed) > 5 else ["npm packs too few files"]))


def check_bill(source, path):
    bill = json.loads(pathlib.Path(path).read_text())
    wrong = [f"{key} is {bill.get(key)}" for key, value in {"bomFormat": "CycloneDX", "specVersion": "1.5"}.items()
             if bill.get(key) != value]
    components = bill["components"]
    scopes = {entry["bom-ref"]: entry["scope"] for entry in components}
    properties = {entry["value"]: entry["scope"] for component in components for entry in component.get("properties", [])
                  for entry in [{**entry, "scope": component["scope"]}]}
    if len(scopes) != len(components):
        wrong.append("two components have one bom-ref")
    for edge in bill["dependencies"]:
        wrong += [f"no component is {name}" for name in [edge["ref"], *edge["dependsOn"]]
                  if name not in scopes and name != bill["metadata"]["component"]["bom-ref"]]
    # Each dependency of the build is named, with the scope of where it is used.
    needed = 0
    for build in source.rglob("meson.build"):
        directory = build.relative_to(source).parts[0]
        if directory.startswith("build"):
            continue
        for name in re.findall(r"(?<![\w.])dependency\('([^']*)'", build.read_text()):
            needed += 1
            expected = "excluded" if directory in ("tests", "docs") else "required"
            if properties.get(name) != expected:
                wrong.append(f"dependency('{name}') of {build.relative_to(source)} is not {expected} there")
    # So is each library that the sources open.
    opened = set()
    for path in [*source.glob("src/**/*.c"), *source.glob("src/**/*.def")]:
        opened |= set(re.findall(r'"(lib[\w-]+\.so)[\w.%]*\\?"', path.read_text()))
    for name in opened:
        if not any(value.startswith(name) and scope == "optional" for value, scope in properties.items()):
            wrong.append(f"{name}, which is opened at run time, is not optional there")
    print(f"{len(components)} components, of {needed} dependencies and {len(opened)} libraries that are opened")
    return wrong + ([] if needed > 7 and len(opened) > 3 else ["too few dependencies were found in the sources"])


def main():
    source = pathlib.Path(sys.argv[2])
    check = {"files": check_files, "versions": check_versions, "npm": check_npm, "bill": check_bill}[sys.argv[1]]
    wrong = check(source, *sys.argv[3:])
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
