#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The operations over ranks on two hosts, which are network namespaces of this one with host names of their own:
# messages go over TCP through a pair of virtual network interfaces. Needs root.
# usage: test_hosts.sh MPIRUN PROGRAM [ARGUMENT ...]      exit 77: not possible here
set -u
mpirun=$1
shift
skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
for needed in ip unshare; do
    command -v $needed >/dev/null || skip "$needed is not installed"
done
id=$$
hosts="pool-$id-0 pool-$id-1"
scratch=$(mktemp -d) || exit 1
clean_up() {
    for host in $hosts; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns delete "$host" 2>/dev/null
    done
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
for host in $hosts; do
    ip netns add "$host" 2>"$scratch/why" || skip "ip netns add: $(cat "$scratch/why")"
done
ip link add name "p$id-0" netns "pool-$id-0" type veth peer name "p$id-1" netns "pool-$id-1" 2>"$scratch/why" ||
    skip "ip link add ... type veth: $(cat "$scratch/why")"
for i in 0 1; do
    ip -n "pool-$id-$i" address add "10.213.7.$((i + 1))/24" dev "p$id-$i" &&
        ip -n "pool-$id-$i" link set "p$id-$i" up &&
        ip -n "pool-$id-$i" link set lo up || skip "the interfaces cannot be set up"
done

# The kernel notices some time later that both ends are up; UCX takes only interfaces that are.
tries=0
until ip -n "pool-$id-0" link show | grep -q "p$id-0.* state UP" &&
    ip -n "pool-$id-1" link show | grep -q "p$id-1.* state UP"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || skip "the interfaces do not come up"
    sleep 0.1
done

# What the launchers run in place of ssh: AGENT [OPTION ...] ADDRESS COMMAND ...
cat >"$scratch/agent" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
index=\$((\${1##*.} - 1))
shift
exec ip netns exec pool-$id-\$index unshare --uts sh -c "hostname pool-$id-\$index; \$*"
END
chmod +x "$scratch/agent"

case $("$mpirun" --version 2>&1) in
*"Open MPI"* | *OpenRTE*)
    # Version 5 puts all ranks on the first host with --oversubscribe.
    options="--allow-run-as-root --map-by slot:OVERSUBSCRIBE --host 10.213.7.1:2,10.213.7.2:2"
    options="$options --mca plm_rsh_agent $scratch/agent --mca plm_rsh_no_tree_spawn 1"
    options="$options --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include 10.213.7.0/24"
    options="$options --mca oob_tcp_if_include 10.213.7.0/24"
    options="$options --mca btl_vader_single_copy_mechanism none"
    ;;
*)
    options="-hosts 10.213.7.1:2,10.213.7.2:2 -launcher ssh -launcher-exec $scratch/agent"
    export UCX_TLS=tcp,self
    export UCX_NET_DEVICES=p$id-0,p$id-1 # not those of loopback, which hosts do not share
    export UCX_WARN_UNUSED_ENV_VARS=n
    ;;
esac
# mpirun itself is on a third host, or on the first one.
# shellcheck disable=SC2086
timeout 120 ip netns exec "pool-$id-0" unshare --uts sh -c "hostname pool-$id-0; exec \"\$@\"" launcher \
    "$mpirun" $options -n 4 "$@" >"$scratch/output" 2>&1
code=$?
cat "$scratch/output"
[ $code = 0 ] || exit $code
names=$(sed -n 's/^host of rank [0-9]*: //p' "$scratch/output" | sort -u | wc -l)
echo "$names hosts"
[ "$names" = 2 ] || exit 1
