#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a directory of its own what option default_library asks for, builds programs against that
# by pkg-config alone, a stranger's in C and C++ and the example of the mock driver, with the shared
# library and with the archive; looks at names, hardening and dependencies of what is installed; moves the
# prefix; uses the installed command, documentation and examples; uninstalls and looks for what stayed.
# usage: install.sh MESON BUILD-DIRECTORY PREFIX SOURCE-DIRECTORY C-COMPILER C++-COMPILER|none
#                   shared|static|both fortified|plain
set -u
meson=$1
build=$2
prefix=$3
source=$4
c_compiler=$5
cpp_compiler=$6
kind=$7
is_fortified=$8
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failed=0

# must WHAT COMMAND...
must() {
    what=$1
    shift
    "$@" >"$directory/log" 2>&1 && return
    echo "$what:"
    cat "$directory/log"
    exit 1
}

# What this directory has installed elsewhere stays known to its own `ninja uninstall`. One test at a time installs.
exec 9>"$build/meson-logs/install-lock"
flock 9
installed=$build/meson-logs/install-log.txt
[ ! -f "$installed" ] || cp "$installed" "$directory/installed"
DESTDIR=$directory/root must "meson install" "$meson" install --no-rebuild -C "$build"
configs=$(dirname "$(find "$directory/root" -name devicepool.pc)")
libraries=$(dirname "$configs")
PKG_CONFIG_PATH=$configs:${PKG_CONFIG_PATH-}
export PKG_CONFIG_PATH
# The files name the prefix; here it lies below a directory.
options="--define-variable=prefix=$directory/root$prefix"

fail() {
    echo "$*"
    failed=1
}

# build_and_run WHAT COMPILER-AND-OPTIONS SOURCE PACKAGES PKG-CONFIG-OPTION
build_and_run() {
    # shellcheck disable=SC2046,SC2086
    $2 -Wall -Wextra -Werror -pedantic "$3" -o "$directory/program" \
        $(pkg-config $options $5 --cflags --libs ${4%%+*}) \
        $(test "${4#*+}" = "$4" || pkg-config --cflags --libs "${4#*+}") 2>"$directory/log" &&
        LD_LIBRARY_PATH=$libraries "$directory/program" >>"$directory/log" 2>&1 || {
        echo "$1:"
        cat "$directory/log"
        failed=1
        return
    }
    echo "$1: $(tail -n 1 "$directory/log")"
}

# build_all WHAT PACKAGE PKG-CONFIG-OPTION
build_all() {
    build_and_run "$1, C" "$c_compiler -std=c11" "$source/tests/install/stranger.c" "$2" "$3"
    case $(readelf -dW "$directory/program") in
    *libdevicepool.so*) links=shared ;;
    *) links=archive ;;
    esac
    case $1 in
    $links*) ;;
    *) fail "$1: the program links the other one" ;;
    esac
    [ "$cpp_compiler" = none ] || build_and_run "$1, C++" "$cpp_compiler -x c++ -std=c++17" \
        "$source/tests/install/stranger.c" "$2" "$3"
}

# The mock's package asks for devicepool.
build_mock() {
    build_and_run "$1, mock driver" "$c_compiler -std=c11" "$source/docs/examples/service_test.c" \
        devicepool-mock+cmocka "$2"
}

if [ "$kind" != static ]; then
    build_all "shared library" devicepool ""
    build_mock "shared library" ""
fi

# CMake asks pkg-config for the flags and searches the libraries itself.
cat >"$directory/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.12)
project(stranger C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(POOL REQUIRED IMPORTED_TARGET ${PACKAGE})
add_executable(stranger ${STRANGER})
target_link_libraries(stranger PkgConfig::POOL)
END
cat >"$directory/pkg-config" <<END
#!/bin/sh
exec pkg-config $options "\$@"
END
chmod +x "$directory/pkg-config"

# build_by_cmake WHAT PACKAGE: as build_and_run
build_by_cmake() {
    command -v cmake >/dev/null || {
        echo "$1, CMake: skipped, there is no cmake"
        return
    }
    rm -rf "$directory/cmake"
    must "$1, CMake" env PKG_CONFIG="$directory/pkg-config" CC="$c_compiler" cmake -S "$directory" -B "$directory/cmake" \
        -DPACKAGE="$2" -DSTRANGER="$source/tests/install/stranger.c"
    must "$1, CMake's build" cmake --build "$directory/cmake"
    must "$1, CMake's program" env LD_LIBRARY_PATH="$libraries" "$directory/cmake/stranger"
    case $(readelf -dW "$directory/cmake/stranger") in
    *libdevicepool.so*) links=shared ;;
    *) links=archive ;;
    esac
    case $1 in
    $links*) echo "$1, CMake: $(tail -n 1 "$directory/log")" ;;
    *) fail "$1, CMake: the program links the other one" ;;
    esac
}

# find_by_cmake WHAT TARGET: as build_by_cmake, by find_package alone.
find_by_cmake() {
    command -v cmake >/dev/null || {
        echo "$1, find_package: skipped, there is no cmake"
        return
    }
    rm -rf "$directory/found"
    mkdir "$directory/found"
    cat >"$directory/found/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.12)
project(stranger C)
find_package(devicepool ${WANTED} REQUIRED)
find_package(devicepool REQUIRED)
if(NOT EXISTS ${devicepool_API_DESCRIPTION})
  message(FATAL_ERROR "no ${devicepool_API_DESCRIPTION}")
endif()
add_executable(stranger ${STRANGER})
target_link_libraries(stranger ${TARGET})
END
    # The libraries' own dependencies are in the system's directories.
    set -- "$1" "$2" -S "$directory/found" -B "$directory/found/build" -DTARGET="$2" \
        -DCMAKE_PREFIX_PATH="$directory/root$prefix" -DSTRANGER="$source/tests/install/stranger.c"
    what=$1
    target=$2
    shift 2
    must "$what, find_package" env CC="$c_compiler" PKG_CONFIG=false cmake "$@" -DWANTED=0.1
    must "$what, find_package's build" cmake --build "$directory/found/build"
    must "$what, find_package's program" env LD_LIBRARY_PATH="$libraries" "$directory/found/build/stranger"
    echo "$what, find_package($target): $(tail -n 1 "$directory/log")"
    case $(readelf -dW "$directory/found/build/stranger") in
    *libdevicepool.so*) links=shared ;;
    *) links=archive ;;
    esac
    case $what in
    $links*) ;;
    *) fail "$what, find_package: the program links the other one" ;;
    esac
    [ "$target" = devicepool::devicepool ] || return
    for version in 0.2 1.0 0.1.9; do
        rm -rf "$directory/found/build"
        env CC="$c_compiler" cmake "$@" -DWANTED=$version >"$directory/log" 2>&1 &&
            fail "find_package takes version $version"
        grep -q "version: 0.1" "$directory/log" || fail "find_package does not say which version there is: $(cat "$directory/log")"
    done
}

[ "$kind" = static ] || find_by_cmake "shared library" devicepool::devicepool
[ "$kind" = shared ] || find_by_cmake "archive" devicepool::static
[ "$kind" != static ] || find_by_cmake "archive alone" devicepool::devicepool

[ "$kind" = static ] || build_by_cmake "shared library" devicepool
[ "$kind" = shared ] || build_by_cmake "archive by its package" devicepool-static

if [ "$kind" = both ]; then
    build_all "archive next to the shared library" devicepool-static ""
    mkdir "$directory/aside"
    mv "$libraries"/libdevicepool.so* "$directory/aside"
fi
if [ "$kind" != shared ]; then
    build_all "archive alone" devicepool "--static"
    build_all "archive alone, its package" devicepool-static ""
    build_mock "archive alone" "--static"
fi
# A program without any shared library, where the system has all archives: Debian has no libcjson.a.
if [ "$kind" != shared ]; then
    echo 'int main(void) { return 0; }' >"$directory/empty.c"
    # shellcheck disable=SC2046
    if $c_compiler -static "$directory/empty.c" -o "$directory/empty" \
        $(pkg-config --static --libs libcrypto libcjson liblzma libzstd) >"$directory/log" 2>&1; then
        # shellcheck disable=SC2046,SC2086
        must "static program" $c_compiler -std=c11 -static "$source/tests/install/stranger.c" -o "$directory/program" \
            $(pkg-config $options --static --cflags --libs devicepool-static)
        must "static program" "$directory/program"
        case $(readelf -dW "$directory/program") in
        *NEEDED*) fail "a static program needs shared libraries" ;;
        esac
        echo "static program: $(tail -n 1 "$directory/log")"
    else
        echo "static program: skipped, $(grep -m 1 'cannot find' "$directory/log")"
    fi
fi
[ "$kind" != static ] || build_all "archive alone, without an option" devicepool ""
[ "$kind" != both ] || mv "$directory"/aside/* "$libraries"

# Of option default_library, exactly the requested libraries are installed.
case $kind in
static) [ -z "$(find "$libraries" -name 'libdevicepool.so*')" ] || fail "a shared library is installed" ;;
shared) [ ! -e "$libraries/libdevicepool.a" ] || fail "an archive is installed" ;;
esac

# An archive's public names are ours; all else would clash with names of the program.
for archive in "$libraries"/*.a; do
    names=$(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }')
    others=$(echo "$names" | grep -v -E '^(pool_|device_pool)')
    echo "$(basename "$archive"): $(echo "$names" | grep -c .) global names"
    [ -n "$names" ] || fail "$archive has no names"
    [ -z "$others" ] || fail "$archive has names without the prefix:" $others
done

# hardened FILE: all relocations are read-only before main, the stack is not executable, and functions
# are compiled with stack protector and, where there is optimization, checked string functions.
hardened() {
    facts=$(readelf -dlW --dyn-syms "$1")
    for fact in GNU_RELRO BIND_NOW __stack_chk_fail; do
        case $facts in
        *$fact*) ;;
        *) fail "$1 has no $fact" ;;
        esac
    done
    case $is_fortified$facts in
    plain* | *__snprintf_chk*) ;;
    *) fail "$1 is compiled without _FORTIFY_SOURCE" ;;
    esac
    case $(echo "$facts" | grep GNU_STACK) in
    *RWE*) fail "$1 has an executable stack" ;;
    esac
    echo "$(basename "$1"): hardened"
}
[ "$kind" = static ] || hardened "$libraries/libdevicepool.so"

# The whole prefix lies in another directory, $moved, and back again.
moved=$directory/moved$prefix
move_prefix() {
    mkdir -p "$(dirname "$moved")"
    mv "$directory/root$prefix" "$moved"
}
move_back() {
    mv "$moved" "$directory/root$prefix"
}

# works_in_workers WHAT PROGRAM-AND-ENVIRONMENT...: the program computes in worker processes.
works_in_workers() {
    what=$1
    shift
    must "worker processes, $what" env "$@" workers:sim:2
    echo "worker processes, $what: $(tail -n 1 "$directory/log")"
}

# The program of worker processes: found next to the shared library, also where the whole prefix was moved,
# and where an environment variable says; not found, the message names it. A program with the archive has
# no library to look next to.
worker=$(find "$directory/root" -name devicepool-worker)
[ -x "$worker" ] || fail "devicepool-worker is not installed"
hardened "$worker"
unset DEVICEPOOL_WORKER
cat >"$directory/wrapper" <<END
#!/bin/sh
echo started >>"$directory/started"
exec "$worker" "\$@"
END
chmod +x "$directory/wrapper"
if [ "$kind" != static ]; then
    build_and_run "for worker processes" "$c_compiler -std=c11" "$source/tests/install/stranger.c" devicepool ""
    works_in_workers "next to the library" LD_LIBRARY_PATH="$libraries" "$directory/program"
    move_prefix
    works_in_workers "prefix moved" \
        LD_LIBRARY_PATH="$moved${libraries#"$directory/root$prefix"}" "$directory/program"
    move_back
    works_in_workers "environment variable" DEVICEPOOL_WORKER="$directory/wrapper" \
        LD_LIBRARY_PATH="$libraries" "$directory/program"
else
    works_in_workers "environment variable" DEVICEPOOL_WORKER="$directory/wrapper" "$directory/program"
fi
[ "$(grep -c started "$directory/started")" = 2 ] || fail "the program that DEVICEPOOL_WORKER names was not used"
mv "$worker" "$directory/worker"
if [ ! -x "$prefix/libexec/devicepool-worker" ]; then
    env LD_LIBRARY_PATH="$libraries" "$directory/program" workers:sim:2 >"$directory/log" 2>&1 &&
        fail "worker processes without devicepool-worker"
    grep -q "DEVICEPOOL_WORKER" "$directory/log" || fail "no advice where devicepool-worker is missing: $(cat "$directory/log")"
fi
mv "$directory/worker" "$worker"

# The packages of docs/packaging divide a whole installation.
if [ "$kind" = both ] && [ -x "$directory/root$prefix/bin/devicepool" ] && [ -x "$directory/root$prefix/bin/devicepool-mpi" ]; then
    must "files of the packages" python3 "$source/tests/install/packages.py" files "$source" "$directory/root" "$prefix" \
        "${libraries#"$directory/root$prefix/"}"
    cat "$directory/log"
fi

# The description of the API, from which a binding is made.
description=$directory/root$prefix/share/devicepool/api.json
must "installed description" test -s "$description"
if [ "$kind" != static ]; then
    must "a binding" python3 "$source/tests/abi/api_ctypes.py" "$description" "$libraries/libdevicepool.so"
    echo "a binding by api.json: $(tail -n 1 "$directory/log")"
fi

tool=$directory/root$prefix/bin/devicepool
if [ -x "$tool" ]; then
    hardened "$tool"
    must "the installed command" env LD_LIBRARY_PATH="$libraries" "$tool" devices -d sim:2
    echo "installed command: $(head -n 1 "$directory/log")"
    for file in devicepool/kzg/trusted_setup.txt devicepool/kzg/valid_blob_2.blob \
        devicepool/kzg/valid_blob_3.blob devicepool/iden3/powersOfTau28_hez_final_09.ptau \
        bash-completion/completions/devicepool.bash zsh/site-functions/_devicepool \
        fish/vendor_completions.d/devicepool.fish man/man1/devicepool.1; do
        must "installed file $file" test -s "$directory/root$prefix/share/$file"
    done
    # Its data and the program of worker processes are found where the prefix was moved.
    move_prefix
    must "demo, prefix moved" "$moved/bin/devicepool" demo -d sim:1
    must "worker processes of the command, prefix moved" "$moved/bin/devicepool" selftest --only copy -d workers:sim:1
    mv "$moved/share/devicepool" "$directory/data"
    if [ ! -d "$prefix/share/devicepool" ]; then
        "$moved/bin/devicepool" demo -d sim:1 >"$directory/log" 2>&1 && fail "a demo without its data"
        grep -q -e '--data' "$directory/log" || fail "no advice where the demo's data is missing: $(cat "$directory/log")"
    fi
    mv "$directory/data" "$moved/share/devicepool"
    move_back
    echo "demo, prefix moved: passed"
fi

# Documentation: each link of a page leads to an installed file.
documentation=$directory/root$prefix/share/doc/devicepool
must "links of the installed pages" python3 - "$documentation" <<'END'
import pathlib, re, sys
root = pathlib.Path(sys.argv[1]).resolve()
pages, broken, count = list(root.glob("*.md")), [], 0
for page in pages:
    for target in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", page.read_text()):
        if re.match(r"\w+:", target):
            continue
        path = (page.parent / target).resolve()
        count += 1
        if not path.exists() or not path.is_relative_to(root):
            broken.append(f"{page.name}: {target}")
print(f"{len(pages)} pages with {count} links to installed files")
sys.exit("\n".join(broken) if broken else None if len(pages) > 20 and count > 100 else "too few pages")
END
cat "$directory/log"
must "license" test -s "$documentation/LICENSE"

# Examples: the installed Makefile builds them, in another directory, against the installed library alone; the
# service answers.
# The packages as they would be after an installation in this directory.
package=devicepool
[ "$kind" != static ] || package=devicepool-static
mkdir "$directory/examples" "$directory/packages"
for file in "$configs"/*.pc; do
    sed "s|^prefix=.*|prefix=$directory/root$prefix|" "$file" >"$directory/packages/$(basename "$file")"
done
make_example() {
    PKG_CONFIG_PATH=$directory/packages:$PKG_CONFIG_PATH must "make $*" make -C "$directory/examples" \
        -f "$documentation/examples/Makefile" CC="$c_compiler" CFLAGS="-O1 -Wall -Wextra -Werror" \
        PACKAGE=$package "$@"
}
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
make_example -j 2 all
for name in frame polynomial_product merkle_tree; do # with prebuilt PTX
    must "example $name" "$directory/examples/$name" sim:2
done
make_example service_test
must "example service_test" "$directory/examples/service_test"
[ ! -f "$configs/devicepool-mpi.pc" ] || make_example mpi_commit
examples="$(ls "$directory/examples" | wc -l) programs"
if pkg-config --exists libmicrohttpd; then
    make_example service
    must "example service" sh "$source/docs/examples/check_service.sh" "$directory/examples/service" \
        "$source/tests" sim:1 brief
    examples="$examples and the service"
fi
echo "examples: $examples built by the installed Makefile"

must "ninja uninstall" ninja -C "$build" uninstall
[ ! -f "$directory/installed" ] || cp "$directory/installed" "$installed"
left=$(find "$directory" -path "$directory/root/*" ! -type d)
if [ -n "$left" ]; then
    echo "after ninja uninstall there is still: $left"
    failed=1
else
    echo "uninstalled: nothing is left"
fi
exit $failed
