#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The container image of docs/deployment without a container engine: docs/deployment/image.sh builds in one fresh root of Debian
# and installs in another one, in which the service then starts as its user and answers /healthz and /metrics, on simulated
# devices. As root, with debootstrap, from a git checkout. A quarter of an hour of one processor, 1.5 GB. Not part of
# tests/run.sh.
# usage: sh tests/image.sh [-m MIRROR] [-d DIRECTORY-OF-ROOTS] [-n NVRTC-DIRECTORY] [DISTRIBUTION]
#   default: this host's own Debian mirror, build/roots/image, no NVRTC (then no pack is made), bookworm
set -u
cd "$(dirname "$0")/.." || exit 1
mirror=""
directory=$PWD/build/roots/image
nvrtc=""
while getopts m:d:n: option; do
    case $option in
    m) mirror=$OPTARG ;;
    d) directory=$OPTARG ;;
    n) nvrtc=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
distribution=${1:-bookworm}
. tests/roots.sh

mkdir -p "$directory"
cat >"$directory/build.sh" <<'STEPS'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
cd /src && sh docs/deployment/image.sh build /output || exit 1
if [ -e /nvrtc/libnvrtc.so.13 ]; then
    CHIPS=90 NAMES=babybear_x4 NVRTC=/nvrtc/libnvrtc.so.13 sh docs/deployment/image.sh pack /output || exit 1
else
    sh docs/deployment/image.sh pack /output || exit 1
fi
STEPS
cat >"$directory/run.sh" <<'STEPS'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
sh /output/image.sh install /output || exit 1
export DEVICEPOOL_CACHE_DIR=/var/cache/prover DEVICEPOOL_NVRTC=off
setpriv --reuid=prover --regid=prover --clear-groups devicepool-service -d sim:2,cc=75 -p 8080 2>/tmp/service.log &
service=$!
for i in $(seq 1 300); do
    grep -q '^ready' /tmp/service.log && break
    kill -0 $service 2>/dev/null || break
    sleep 0.2
done
ask() {
    timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/8080; printf 'GET $1 HTTP/1.0\r\n\r\n' >&3; cat <&3"
}
failed=0
for i in $(seq 1 300); do # until the devices are warm
    ask /healthz | grep -q '^HTTP/1.[01] 200' && break
    sleep 0.2
done
ask /healthz | grep -q '^HTTP/1.[01] 200' || { echo "image: /healthz is not 200"; failed=1; }
ask /metrics | grep -q '^devicepool_usable_devices 2' || { echo "image: /metrics lacks devicepool_usable_devices"; failed=1; }
kill -TERM $service
wait $service
code=$?
[ $code = 0 ] || { echo "image: the service ends with $code after SIGTERM"; failed=1; }
[ $failed = 0 ] || cat /tmp/service.log
exit $failed
STEPS

roots=$directory/build-root
roots_open
root_make "$distribution" && root_copy "$distribution" src || exit 1
rm -rf "${roots:?}/$distribution/nvrtc"
[ -z "$nvrtc" ] || {
    mkdir "$roots/$distribution/nvrtc" &&
        cp -L "$nvrtc"/libnvrtc.so.13 "$nvrtc"/libnvrtc-builtins.so.13.* "$roots/$distribution/nvrtc/" || exit 1
}
root_run "$distribution" "$directory/build.sh" || {
    echo "image: build FAILED"
    exit 1
}
built=$roots/$distribution/output
roots=$directory/run-root
roots_open
root_make "$distribution" || exit 1
rm -rf "${roots:?}/$distribution/output"
cp -a "$built" "$roots/$distribution/output" && cp docs/deployment/image.sh "$roots/$distribution/output/" || exit 1
if root_run "$distribution" "$directory/run.sh"; then
    echo "image: $distribution passed"
else
    echo "image: $distribution FAILED"
    exit 1
fi
