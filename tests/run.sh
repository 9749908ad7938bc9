#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every suite that needs no GPU:
#   release    gcc, all suites but long
#   asan       clang with AddressSanitizer and UBSan, all but suites compile, slow and long
#   tsan       gcc with ThreadSanitizer, suites threads, workers and tsan, but slow and long
#   long       what takes minutes, before each release: gcc, suite long; AddressSanitizer, suite slow;
#              ThreadSanitizer, suites threads and workers with what is slow of them
#   valgrind   gcc, the suites unit, kat and torture under valgrind
#   warnings   gcc with AddressSanitizer and UBSan, and with coverage: built only, without a warning
# A GPU is used too where there is one: suite gpu skips by itself elsewhere. The default takes a quarter of an hour on two
# processors; each phase says how long it took.
# A test is stopped only when it hangs: also where the processors are shared with other work.
# usage: sh tests/run.sh [release] [asan] [tsan] [long] [valgrind] [warnings]   (default: release asan tsan)
set -u
export DEVICEPOOL_CONFIG=off # that of the host is not what is tested
cd "$(dirname "$0")/.." || exit 1
. tests/install-needs.sh

build_needs
test_needs
install_needs || exit 1
clang_needs
install_needs || exit 1
need lld command -v ld.lld
install_needs || missing="" # only faster
need cmark-gfm command -v cmark-gfm
install_needs || missing="" # without it the test of the site is skipped

# A version manager's python3 is a script that takes as long as the hundreds of short programs that the tests start.
python3=$(python3 -c 'import sys; print(sys.executable)') && [ "$python3" != "$(command -v python3)" ] &&
    PATH=$(dirname "$python3"):$PATH

kinds=${*:-release asan tsan}
logs=""
failed=0

# What the tests of a kind are, as options of meson test.
release_suites="--no-suite bench --no-suite long"
asan_suites="--no-suite bench --no-suite gpu --no-suite compile --no-suite slow --no-suite long"
tsan_suites="--suite threads --suite workers --suite tsan --no-suite slow --no-suite long --no-suite gpu"
# More than processors, as some wait: for processes that end, deadlines, devices that hang. Beside the tests of release
# the other kinds are built; tests under a sanitizer, whose time limits are wide, are alone.
processes=$(($(nproc) + 2))
alone="--num-processes $(($(nproc) + 4))"
started=$(date +%s)

# took WHAT BEGIN: one line with the seconds since then
took() {
    echo "== $1 in $(($(date +%s) - $2)) s"
}

# build KIND COMPILER MESON-OPTIONS... : builds $suites' tests, or everything where that is empty. $beside is what
# goes before commands that run beside tests.
beside=""
build() {
    kind=$1
    compiler=$2
    shift 2
    directory=build/$kind
    phase=$(date +%s)
    if [ ! -f "$directory/build.ninja" ]; then
        CC=$compiler $beside meson setup "$directory" -Dwerror=true "$@" >"build/$kind.log" 2>&1 || {
            cat "build/$kind.log"
            return 1
        }
    fi
    echo "== $kind: building with $compiler"
    # shellcheck disable=SC2046,SC2086 # lists on purpose
    $beside ninja -C "$directory" $([ -z "$suites" ] || python3 tests/targets.py "$directory" $suites) >"build/$kind.log" 2>&1 || {
        grep -v '^\[' "build/$kind.log" | tail -n 60
        return 1
    }
    took "$kind: built${beside:+ beside tests}" "$phase"
}

# run KIND MESON-TEST-OPTIONS...
run() {
    kind=$1
    shift
    echo "== $kind: testing"
    phase=$(date +%s)
    meson test -C "build/$kind" --no-rebuild --print-errorlogs --num-processes "$processes" "$@" || failed=1
    took "$kind: tested" "$phase"
    logs="$logs $kind=build/$kind/meson-logs/testlog${log_suffix:-}.json"
}

# with_lld COMMAND...: links with lld where it is, which takes a third of the time
with_lld() {
    ! command -v ld.lld >/dev/null || export CC_LD=lld
    "$@"
    code=$?
    unset CC_LD
    return $code
}

# Clang with both sanitizers compiles in a third of the time without optimisation, and then hides no undefined behaviour;
# src/meson.build says what it optimises all the same. GCC guesses the lengths of strings badly with little optimisation.
build_asan() {
    with_lld build asan clang -Dtests=enabled --buildtype=debug -Db_lundef=false -Db_sanitize=address,undefined
}

build_tsan() {
    export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp"
    with_lld build tsan gcc -Dtests=enabled --buildtype=debugoptimized -Doptimization=1 -Db_lundef=false \
        -Db_sanitize=thread -Dc_args="-Wno-tsan -Wno-format-truncation"
}

# build_kind KIND: sets $suites
build_kind() {
    suites=""
    case $1 in
    release) build release gcc -Dtests=enabled ;;
    asan)
        suites=$asan_suites
        build_asan
        ;;
    tsan)
        suites=$tsan_suites
        build_tsan
        ;;
    esac
}

# build_ahead KIND... : in the background, one after the other. Tests wait a fifth of their time, for processes that
# end and for deadlines; the lowest priority takes what they leave.
ahead=""
build_ahead() {
    [ $# -gt 0 ] && [ -z "$ahead" ] || return 0
    (
        beside="nice -n 19"
        for kind in "$@"; do
            case $kind in
            release | asan | tsan) build_kind "$kind" ;;
            *) break ;;
            esac
            touch "build/$kind.ahead"
        done
    ) &
    ahead=$!
}

# test_kind KIND OPTIONS LATER-KIND... : builds that kind and, while its tests run, the kinds after it
test_kind() {
    kind=$1
    options=$2
    shift 2
    while [ -n "$ahead" ] && [ ! -e "build/$kind.ahead" ] && kill -0 "$ahead" 2>build/ahead.log; do
        sleep 1
    done
    build_kind "$kind" || return 1
    build_ahead "$@"
    # shellcheck disable=SC2086 # a list on purpose
    run "$kind" $options
}

# Kernels that are prebuilt run as prebuilt, which the tests of suite compile hold to what NVRTC makes of the sources; suite long
# compiles them. It saves a third of NVRTC's processor time with an empty cache (82 of 261 s).
without_last=${DEVICEPOOL_NVRTC-}
set_nvrtc() {
    case $1 in
    long) DEVICEPOOL_NVRTC=$without_last ;;
    *) DEVICEPOOL_NVRTC=${without_last:-last} ;;
    esac
    export DEVICEPOOL_NVRTC
}

mkdir -p build
rm -f build/*.ahead
later="$kinds "
# shellcheck disable=SC2086 # lists on purpose
for kind in $kinds; do
    suites=""
    later=${later#* }
    set_nvrtc "$kind"
    case $kind in
    release) test_kind release "$release_suites --timeout-multiplier 3" $later || failed=1 ;;
    asan) test_kind asan "$asan_suites --timeout-multiplier 8 $alone" $later || failed=1 ;;
    tsan) test_kind tsan "$tsan_suites --timeout-multiplier 10 $alone" $later || failed=1 ;;
    long)
        build release gcc -Dtests=enabled && log_suffix=-long run release --suite long \
            --timeout-multiplier 3 --logbase testlog-long || failed=1
        suites="--suite slow --no-suite long --no-suite bench --no-suite gpu --no-suite compile"
        build_asan && log_suffix=-long run asan $suites --timeout-multiplier 20 --logbase testlog-long || failed=1
        suites="--suite threads --suite workers --no-suite long --no-suite gpu"
        build_tsan && log_suffix=-long run tsan $suites --timeout-multiplier 20 --logbase testlog-long || failed=1
        ;;
    valgrind)
        need valgrind command -v valgrind
        install_needs || exit 1
        build valgrind gcc -Dtests=enabled --buildtype=debugoptimized || failed=1
        log_suffix=-valgrind run valgrind --setup valgrind --suite unit --suite kat --suite torture
        ;;
    warnings)
        build gcc-asan gcc -Dtests=enabled --buildtype=debugoptimized -Db_lundef=false \
            -Db_sanitize=address,undefined || failed=1
        build coverage gcc -Dtests=enabled -Db_coverage=true || failed=1
        ;;
    *)
        echo "error: '$kind' is none of release, asan, tsan, long, valgrind, warnings" >&2
        exit 2
        ;;
    esac
done

# shellcheck disable=SC2086 # a list on purpose
[ -z "$logs" ] || python3 tests/summary.py $logs || failed=1
took "all" "$started"
exit $failed
