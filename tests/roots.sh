# SPDX-License-Identifier: Apache-2.0
# Sourced by tests/distros.sh and tests/packages.sh: fresh roots of Debian's distributions, made with debootstrap. A root that
# exists is used again, with its packages.

# roots_open: checks what is needed, finds the mirror where $mirror is empty, and makes the directory $roots
roots_open() {
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || ! command -v unshare >/dev/null; then
        echo "error: root, debootstrap and unshare (util-linux) are needed" >&2
        exit 2
    fi
    [ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
        sed -n 's/^Debian Debian //p' | head -n 1)
    if [ -z "$mirror" ]; then
        echo "error: this host's apt has no Debian mirror; name one with -m" >&2
        exit 2
    fi
    mkdir -p "$roots" && roots=$(cd "$roots" && pwd) || exit 1
}

# root_make DISTRIBUTION
root_make() {
    [ ! -e "$roots/$1/etc/apt/sources.list" ] || return 0
    echo "$1: making a root from $mirror"
    debootstrap --variant=minbase "$1" "$roots/$1" "$mirror" >"$roots/$1.log" 2>&1 || {
        echo "$1: debootstrap FAILED:"
        tail -n 20 "$roots/$1.log"
        return 1
    }
}

# root_copy DISTRIBUTION DIRECTORY: this tree, without the old files: tar keeps times, so that a changed file could be
# older than what was built from it
root_copy() {
    rm -rf "${roots:?}/$1/$2"
    mkdir "$roots/$1/$2" && git ls-files -z | tar -c --null --files-from=- | tar -x -C "$roots/$1/$2"
}

# root_run DISTRIBUTION SCRIPT: the script runs in the root, in which its mounts and processes end with it
root_run() {
    cp "$2" "$roots/$1/steps.sh" || return 1
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount --rbind /sys "$0/sys" &&
            exec chroot "$0" sh /steps.sh' "$roots/$1"
}
