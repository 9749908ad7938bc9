# SPDX-License-Identifier: Apache-2.0
# Sourced by deb.sh and rpm.sh, in the root of the source: tarball DIRECTORY FILE makes the tree devicepool-VERSION in the
# directory and FILE of it. Of a git checkout it has the committed files, as they are now; else all, but builds. Times, owners,
# modes and order do not depend on who does this where.
export LC_ALL=C
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)
time=$(sed -n 's/^ -- .*>  //p' docs/packaging/debian/changelog | head -n 1)

tree_files() {
    if [ -e .git ]; then
        git ls-files -z
    else
        find . -path './build*' -prune -o -path './debian' -prune -o -type f -print0 -o -type l -print0
    fi
}

tarball() {
    tree=$1/devicepool-$version
    rm -rf "$tree"
    mkdir -p "$tree" &&
        tree_files | tar -c --null --no-recursion --files-from=- | tar -x -C "$tree" &&
        chmod -R u+rwX,go+rX,go-w "$tree" &&
        find "$tree" -exec touch -h -d "$time" {} + &&
        tar -c --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="$time" -C "$1" "devicepool-$version" |
        gzip -n -9 >"$2"
}

# output_directory DIRECTORY: absolute, from where the script was started
output_directory() {
    case $1 in
    /*) echo "$1" ;;
    *) echo "$started/$1" ;;
    esac
}
