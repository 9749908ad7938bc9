#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/install-needs.sh with an apt-get that writes down how it is called: a package source that cannot be
# read does not end the installation, a package that cannot be installed does; where there is dnf, Fedora's names are said.
# usage: needs.sh SOURCE-DIRECTORY
set -u
source=$1
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failed=0

mkdir "$directory/bin"
cat >"$directory/bin/apt-get" <<END
#!/bin/sh
echo "\$*" >>"$directory/calls"
case \$1 in
update) exit "\$UPDATE_STATUS" ;;
*) exit "\$INSTALL_STATUS" ;;
esac
END
printf '#!/bin/sh\necho 0\n' >"$directory/bin/id" # as root: without sudo
chmod +x "$directory/bin/apt-get" "$directory/bin/id"

# install UPDATE-STATUS INSTALL-STATUS: asks for two packages of which one is there, and then for another one
install() {
    rm -f "$directory/calls"
    UPDATE_STATUS=$1 INSTALL_STATUS=$2 PATH="$directory/bin:$PATH" sh -c '
        . "$0/tests/install-needs.sh"
        need there true
        need absent false
        install_needs || exit 3
        need another false
        install_needs || exit 4' "$source" >"$directory/log" 2>&1
}

# expect WHAT STATUS-EXPECTED STATUS TEXT-OF-THE-OUTPUT CALLS-OF-INSTALL
expect() {
    calls=$(grep -o 'recommends.*' "$directory/calls" | cut -d' ' -f2- | tr '\n' ' ')
    if [ "$2" != "$3" ] || ! grep -q "$4" "$directory/log" || [ "$calls" != "$5" ]; then
        echo "$1: status $3 instead of $2, or no \"$4\", or \"$calls\" was installed instead of \"$5\":"
        cat "$directory/log"
        failed=1
    fi
}

install 0 0
expect "all is well" 0 $? "^installing: absent" "absent another "
grep -q warning "$directory/log" && { echo "a warning without a reason"; failed=1; }
install 100 0
expect "an expired source" 0 $? "^warning: apt-get update failed" "absent another "
install 100 100
expect "nothing can be installed" 3 $? "^error: apt-get install absent failed" "absent "
# Without apt-get but with dnf: Fedora's names, and nothing is installed.
mkdir "$directory/fedora"
ln -s "$(command -v sh)" "$directory/fedora/sh"
printf '#!/bin/sh\nexit 9\n' >"$directory/fedora/dnf"
chmod +x "$directory/fedora/dnf"
PATH="$directory/fedora" sh -c '. "$0/tests/install-needs.sh"
    need libssl-dev false
    need gcc false
    install_needs' "$source" >"$directory/log" 2>&1 && { echo "Fedora: nothing is missing"; failed=1; }
grep -q "dnf install openssl-devel gcc (" "$directory/log" || { echo "Fedora: $(cat "$directory/log")"; failed=1; }

# Every package has a name there.
for package in $(sed -n 's/^ *need "*\([^ "]*\)"* .*/\1/p' "$source/tests/install-needs.sh" "$source/tests/run.sh"); do
    case $package in
    PACKAGE | valgrind) continue ;;
    esac
    name=$(sh -c '. "$0/tests/install-needs.sh"
        fedora_name "$1"' "$source" "$(echo "$package" | sed 's/\$clang_version/14/')")
    [ "$name" != "?" ] || { echo "no name of Fedora for $package"; failed=1; }
done

[ $failed = 1 ] || echo "install-needs.sh continues after a failed update, and stops after a failed installation"
exit $failed
