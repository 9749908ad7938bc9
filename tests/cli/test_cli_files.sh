#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands that read and write files, on a simulated device.
# usage: test_cli_files.sh DEVICEPOOL VECTORS-DIRECTORY
set -u
tool=$1
vectors=$2
# shellcheck disable=SC2034 # for expect.sh
shared_cache=yes
. "$(dirname "$0")/expect.sh"
export DEVICEPOOL_DEVICES=sim

expect 0 'tauG1  *points  *bn254_g1  *511 ' "$tool" info "$vectors/iden3/powersOfTau28_hez_final_08.ptau"
expect 0 'domain_size  *256' "$tool" info "$vectors/iden3/poseidon_bn254.zkey"
expect 0 'constraints  *213' "$tool" info "$vectors/iden3/poseidon_bn254.r1cs"
expect_json "import json, sys
file = json.load(sys.stdin)
assert file['kind'] == 'kzg' and [s['count'] for s in file['sections']] == [4096, 4096, 65], file" \
    "$tool" info --json "$vectors/kzg/trusted_setup.txt"
expect 1 'cannot be opened' "$tool" info "$scratch/none"
expect 1 'not the beginning' "$tool" info "$0"
# Other JSON files are not recognised as KZG setups.
for json in "$vectors/iden3/poseidon_bn254_proof.json" "$vectors/poseidon/circom.json"; do
    expect 1 "$json.*not a KZG setup" "$tool" info "$json"
done
expect 1 'poseidon_bn254_public.json.*not the beginning' \
    "$tool" info "$vectors/iden3/poseidon_bn254_public.json"
expect_json "import json, sys
assert json.load(sys.stdin)['error']['status'] == 'POOL_ERR_BAD_DATA'" \
    sh -c '"$1" info --json "$2"; [ $? = 1 ]' sh "$tool" "$0"

if ! has_compiler; then
    echo "skipped the rest: NVRTC, which compiles kernels, is not here"
    exit $failed
fi

# Python's integers provide a file of eight elements and its transform.
cat >"$scratch/ntt.py" <<'PYTHON'
import sys
p = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001
root = pow(5, (p - 1) // 8, p)
x = [pow(3, i * i, p) for i in range(8)]
if sys.argv[1] == "input":
    sys.stdout.buffer.write(b"".join(v.to_bytes(32, sys.argv[2]) for v in x))
elif sys.argv[1] == "montgomery":
    sys.stdout.buffer.write(b"".join((v * 2**256 % p).to_bytes(32, "little") for v in x))
elif sys.argv[1] == "extension":
    w = pow(5, (p - 1) // 32, p)
    for k in range(32):
        at = 5 * pow(w, k, p)
        terms = (v * pow(root, i, p) * pow(at - pow(root, i, p), -1, p) for i, v in enumerate(x))
        print("0x%064x" % ((pow(at, 8, p) - 1) * pow(8, -1, p) * sum(terms) % p))
else:
    shift = int(sys.argv[2])
    for k in range(8):
        print("0x%064x" % (sum(v * pow(shift * pow(root, k, p), j, p) for j, v in enumerate(x)) % p))
PYTHON
python3 "$scratch/ntt.py" input little >"$scratch/little"
python3 "$scratch/ntt.py" input big >"$scratch/big"
python3 "$scratch/ntt.py" montgomery >"$scratch/montgomery"
python3 "$scratch/ntt.py" values 1 >"$scratch/values"
python3 "$scratch/ntt.py" values 5 >"$scratch/coset"
python3 "$scratch/ntt.py" extension >"$scratch/extension"

"$tool" ntt "$scratch/little" >"$scratch/got"
same "ntt" "$scratch/got" "$scratch/values"
"$tool" ntt --big-endian "$scratch/big" >"$scratch/got"
same "ntt --big-endian" "$scratch/got" "$scratch/values"
"$tool" ntt --devices sim:2 --together "$scratch/little" >"$scratch/got"
same "ntt --together" "$scratch/got" "$scratch/values"
"$tool" ntt --form montgomery "raw:$scratch/montgomery" >"$scratch/got"
same "ntt --form montgomery" "$scratch/got" "$scratch/values"
"$tool" ntt --coset "$scratch/little" >"$scratch/got"
same "ntt --coset" "$scratch/got" "$scratch/coset"
"$tool" ntt --order nr "$scratch/little" -o "$scratch/reversed"
"$tool" ntt --order rn --inverse "$scratch/reversed" -o "$scratch/got"
same "ntt there and back" "$scratch/got" "$scratch/little"
# --big-endian applies to input and output.
"$tool" ntt --big-endian --order nr "$scratch/big" -o "$scratch/reversed"
"$tool" ntt --big-endian --order rn --inverse "$scratch/reversed" -o "$scratch/got"
same "ntt there and back, big-endian" "$scratch/got" "$scratch/big"
"$tool" ntt --form montgomery --inverse "$scratch/montgomery" -o "$scratch/reversed"
"$tool" ntt --form montgomery "$scratch/reversed" -o "$scratch/got"
same "ntt there and back, Montgomery form" "$scratch/got" "$scratch/montgomery"
expect 2 'not montgomery' "$tool" ntt --big-endian --form montgomery "$scratch/big"
"$tool" ntt --extend 2 "$scratch/little" >"$scratch/got"
same "ntt --extend" "$scratch/got" "$scratch/extension"
"$tool" ntt --extend 2 --big-endian "$scratch/big" >"$scratch/got"
same "ntt --extend --big-endian" "$scratch/got" "$scratch/extension"
"$tool" ntt --devices sim:2 --together --extend 2 "$scratch/little" >"$scratch/got"
same "ntt --extend --together" "$scratch/got" "$scratch/extension"
expect 2 'extend must be 1 to 4' "$tool" ntt --extend 5 "$scratch/little"
expect 2 'extend must be 1 to 4' "$tool" ntt --extend 0 "$scratch/little"
expect 2 'does not go with --inverse' "$tool" ntt --extend 1 --inverse "$scratch/little"
expect 2 'batch must be at least 1' "$tool" ntt --batch 0 "$scratch/little"
# An unwritable path is detected before the work, and an output that is an input.
expect 1 'cannot be written' "$tool" ntt "$scratch/little" -o "$scratch/none/out" -v
expect 1 'modulus' "$tool" ntt --field babybear "$scratch/little" -o "$scratch/unwritten"
[ -e "$scratch/unwritten" ] && echo "FAILED: a failed ntt leaves a file" && failed=1
cp "$scratch/little" "$scratch/same"
expect 1 'is also an input' "$tool" ntt "$scratch/same" -o "$scratch/same"
same "ntt into its input" "$scratch/same" "$scratch/little"
expect 2 'has 8 elements, and a transform takes a power of two for each' "$tool" ntt --batch 3 "$scratch/little"
expect 2 'no field .x' "$tool" ntt --field x "$scratch/little"
expect 1 'cannot be written' "$tool" ntt "$scratch/little" -o "$scratch/none/out"
printf '%032d' 0 | tr 0 '\377' >"$scratch/large"
expect 1 "$scratch/large: .*modulus" "$tool" ntt "$scratch/large"
expect 1 "$scratch/large: .*modulus" "$tool" ntt --big-endian "$scratch/large"

# circomlib's Poseidon of 1 and 2, and a tree compared with hashes of hashes.
python3 -c "import sys
sys.stdout.buffer.write(b''.join(i.to_bytes(32, 'little') for i in (1, 2, 3, 4)))" >"$scratch/leaves"
expect 0 '^0x115cc0f5e7d690413df64c6b9662e9cf2a3617f2743245519e19607a4417189a' \
    "$tool" poseidon hash "$scratch/leaves"
"$tool" poseidon hash "$scratch/leaves" -o "$scratch/level"
"$tool" poseidon hash "$scratch/level" >"$scratch/root"
"$tool" poseidon tree --devices sim:2 --together "$scratch/leaves" >"$scratch/got"
same "poseidon tree --together" "$scratch/got" "$scratch/root"
"$tool" poseidon tree "$scratch/leaves" >"$scratch/got"
same "poseidon tree" "$scratch/got" "$scratch/root"
expect_json "import json, sys
tree = json.load(sys.stdin)
assert tree['height'] == 2 and len(tree['digests']) == 1, tree" \
    "$tool" poseidon tree --json "$scratch/leaves"
# The permutation of (0, 0, 1) and (0, 1, 2): element 0 is circomlib's hash of the other two.
python3 -c "import sys
sys.stdout.buffer.write(b''.join(i.to_bytes(32, sys.argv[1]) for i in (0, 1, 2, 0, 3, 4)))" little \
    >"$scratch/states"
python3 -c "import sys
sys.stdout.buffer.write(b''.join(i.to_bytes(32, sys.argv[1]) for i in (0, 1, 2, 0, 3, 4)))" big \
    >"$scratch/big_states"
"$tool" poseidon hash "$scratch/leaves" >"$scratch/digests"
"$tool" poseidon permute "$scratch/states" | sed -n '1p;4p' >"$scratch/got"
same "poseidon permute" "$scratch/got" "$scratch/digests"
"$tool" poseidon permute "$scratch/states" -o "$scratch/little_permuted"
"$tool" poseidon permute --big-endian "$scratch/big_states" -o "$scratch/big_permuted"
python3 -c "import sys
bytes = open(sys.argv[1], 'rb').read()
sys.stdout.buffer.write(b''.join(bytes[i:i + 32][::-1] for i in range(0, len(bytes), 32)))" \
    "$scratch/little_permuted" >"$scratch/got"
same "poseidon permute --big-endian" "$scratch/big_permuted" "$scratch/got"
expect_json "import json, sys
states = json.load(sys.stdin)
assert states['items'] == 2 and len(states['elements']) == 6, states" \
    "$tool" poseidon permute --json "$scratch/states"
expect 2 'not items of 3' "$tool" poseidon permute "$scratch/leaves"
expect 2 'permutes states of 3 elements, not 2' "$tool" poseidon permute -e 2 "$scratch/states"
expect 0 '^0x' "$tool" poseidon sponge --bytes "$0"
expect 0 '^0x29176100eaa962bdc1fe6c654d6a3c130e96a4d1168b33848b897dc502820133' \
    "$tool" poseidon hash --set circom-bn254-t2 "wtns:$vectors/iden3/poseidon_bn254.wtns"
# Noir's hash of (1, 2, 3), Starknet's hash_many of (1, 2), as their packages compute them.
python3 -c "import sys
sys.stdout.buffer.write(b''.join(i.to_bytes(32, 'little') for i in (1, 2, 3)))" >"$scratch/one_two_three"
head -c 64 "$scratch/one_two_three" >"$scratch/one_two"
expect 0 '^0x23864adb160dddf590f1d3303683ebcb914f828e2635f6e85a32f0a1aecd3dd8' "$tool" poseidon sponge \
    --set poseidon2-horizen-bn254-t4 --padding zero --tag 0x30000000000000000 "$scratch/one_two_three"
expect 0 '^0x0*371cb6995ea5e7effcd2e174de264b5b407027a75a231a70c2c8d196107f0e7' "$tool" poseidon sponge \
    --set starknet-stark252-t3 --padding 10 "$scratch/one_two"
expect 2 'options of .sponge., not of .hash' "$tool" poseidon hash --tag 1 "$scratch/one_two"
expect 2 'is not an element of bn254_fr' "$tool" poseidon sponge --tag 5x "$scratch/one_two"
expect 2 'padding' "$tool" poseidon sponge --padding 11 "$scratch/one_two"
expect 2 'no parameter set .x' "$tool" poseidon hash --set x "$scratch/leaves"
expect 2 'has no .burn' "$tool" poseidon burn "$scratch/leaves"
expect 2 'not items of 3' "$tool" poseidon hash --elements 3 "$scratch/leaves"
expect 2 'at most 2' "$tool" poseidon hash --elements 4 "$scratch/leaves"
expect 1 "$scratch/large: .*modulus" "$tool" poseidon hash --elements 1 "$scratch/large"
expect 1 'cannot be read' "$tool" poseidon sponge --bytes "$scratch/none"

# The blobs of Ethereum's tests and their commitments.
setup=kzg:$vectors/kzg/trusted_setup.txt:lagrange
expect 0 'compressed a421e229565952cfff4ef3517100a97da1d4fe57956fa50a442f92af03b1bf37adacc8ad4ed209b31287ea5bb94d9d06' \
    "$tool" msm "$setup" "$vectors/kzg/valid_blob_2.blob" --big-endian --bit-reverse
expect_json "import json, sys
sum = json.load(sys.stdin)
assert sum['compressed'].startswith('b49d88afcd7f6c61a8ea69eff5f609d2'), sum
assert sum['terms'] == 4096 and not sum['infinity'] and len(sum['x']) == 1, sum" \
    "$tool" msm "$setup" "$vectors/kzg/valid_blob_3.blob" --big-endian --bit-reverse --json
expect 1 'lagrange with .*valid_blob_2.blob: .*not below the order' \
    "$tool" msm "$setup" "$vectors/kzg/valid_blob_2.blob"
# Both at once: published commitments again, and in the file the points in the order of the blobs.
cat "$vectors/kzg/valid_blob_2.blob" "$vectors/kzg/valid_blob_3.blob" >"$scratch/blobs"
batch() {
    "$tool" msm "$setup" "$scratch/blobs" --big-endian --bit-reverse --batch 2 "$@"
}
expect_json "import json, sys
sums = json.load(sys.stdin)
assert sums['terms'] == 4096, sums
assert [point['compressed'][:32] for point in sums['results']] == \\
    ['a421e229565952cfff4ef3517100a97d', 'b49d88afcd7f6c61a8ea69eff5f609d2'], sums" batch --json -d sim:2 --together
expect 0 '^compressed b49d88afcd7f6c61a8ea69eff5f609d2' batch
also '^compressed a421e229565952cfff4ef3517100a97d'
batch -o "$scratch/sums"
"$tool" msm "$setup" "$vectors/kzg/valid_blob_2.blob" --big-endian --bit-reverse -o "$scratch/sum_2"
"$tool" msm "$setup" "$vectors/kzg/valid_blob_3.blob" --big-endian --bit-reverse -o "$scratch/sum_3"
cat "$scratch/sum_2" "$scratch/sum_3" >"$scratch/got"
same "msm --batch --output" "$scratch/got" "$scratch/sums"
expect 2 'not a multiple of the batch of 3' "$tool" msm "$setup" "$scratch/blobs" --big-endian --batch 3
expect 2 'batch must be at least 1' "$tool" msm "$setup" "$scratch/blobs" --batch 0
expect 2 'there are no scalars for a batch of 1125899906842624' batch --batch 2^50 --skip 8192
expect 2 'there are 4096 scalars in each MSM but only 31 points' \
    "$tool" msm "ptau:$vectors/iden3/bls12_381_04.ptau:tauG1" "$scratch/blobs" --big-endian --batch 2
# A polynomial at tau: by its coefficients, and by its values with the Lagrange points.
ptau=ptau:$vectors/iden3/powersOfTau28_hez_final_08.ptau
"$tool" msm "$ptau:tauG1" "$scratch/little" >"$scratch/coefficients"
"$tool" ntt "$scratch/little" -o "$scratch/values.bin"
"$tool" msm "$ptau:tauG1" --devices sim:2 --together "$scratch/little" >"$scratch/got"
same "msm --together" "$scratch/got" "$scratch/coefficients"
# Lagrange points become powers of tau, the first of which is the generator (1, 2), and these become Lagrange points.
"$tool" ntt "$ptau:lagrange:2" --devices sim:1 >"$scratch/points"
printf '0x%064x\n' 1 2 >"$scratch/generator"
head -n 2 "$scratch/points" >"$scratch/got"
same "ntt of points" "$scratch/got" "$scratch/generator"
"$tool" ntt "$ptau:lagrange:2" --devices sim:1 --output "$scratch/points.bin"
"$tool" ntt --curve bn254_g1 --devices sim:1 --inverse "$scratch/points.bin" --output "$scratch/lagrange.bin"
"$tool" ntt --curve bn254_g1 --devices sim:1 "$scratch/lagrange.bin" >"$scratch/got"
same "ntt --curve" "$scratch/got" "$scratch/points"
"$tool" ntt "$ptau:lagrange:2" --devices sim:2 --together >"$scratch/got"
same "ntt --together of points" "$scratch/got" "$scratch/points"
# snarkjs has another root of unity for BLS12-381 than the field: the powers of tau in the file itself are the transform.
ptau381=$vectors/iden3/bls12_381_04.ptau
cat >"$scratch/powers.py" <<'PYTHON'
import json, subprocess, sys
tool, path = sys.argv[1:]
sections = json.loads(subprocess.check_output([tool, "info", "--json", path]))["sections"]
at = next(section["offset"] for section in sections if section["name"] == "tauG1")
p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
with open(path, "rb") as file:
    file.seek(at)
    for _ in range(16):
        print("0x%096x" % (int.from_bytes(file.read(48), "little") * pow(2, -384, p) % p))
PYTHON
python3 "$scratch/powers.py" "$tool" "$ptau381" >"$scratch/powers"
"$tool" ntt "ptau:$ptau381:lagrange:3" >"$scratch/got"
same "ntt of snarkjs' Lagrange points" "$scratch/got" "$scratch/powers"
root=$(python3 -c "r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001; print(hex(pow(5, (r - 1) // 8, r)))")
"$tool" ntt "ptau:$ptau381:lagrange:3" --root "$root" >"$scratch/got"
same "ntt --root VALUE" "$scratch/got" "$scratch/powers"
"$tool" ntt "ptau:$ptau381:lagrange:3" --output "$scratch/powers.bin"
"$tool" ntt --curve bls12_381_g1 --root snarkjs --inverse "$scratch/powers.bin" --output "$scratch/lagrange.bin"
"$tool" ntt --curve bls12_381_g1 --root snarkjs "$scratch/lagrange.bin" >"$scratch/got"
same "ntt --root snarkjs of a raw file" "$scratch/got" "$scratch/powers"
"$tool" ntt "ptau:$ptau381:lagrange:3" --root default >"$scratch/got"
cmp -s "$scratch/got" "$scratch/powers" && echo "FAILED: --root default is snarkjs' root" && failed=1
"$tool" ntt --curve bls12_381_g1 "$scratch/lagrange.bin" >"$scratch/again"
same "the field's root is the default of raw files" "$scratch/again" "$scratch/got"
expect 1 'has no convention "x"' "$tool" ntt "ptau:$ptau381:lagrange:3" --root x
expect 1 'no root of unity of order 2^3' "$tool" ntt "ptau:$ptau381:lagrange:3" --root 3
expect 2 'does not go with points' "$tool" ntt "$ptau:lagrange:2" --extend 1
expect 2 'has 511 points, and a transform takes a power of two' "$tool" ntt "$ptau:tauG1"
"$tool" msm "$ptau:lagrange:3" "$scratch/values.bin" >"$scratch/got"
same "MSM over tauG1 and over lagrange:3" "$scratch/got" "$scratch/coefficients"
"$tool" msm "$ptau:tauG1" --scalar-form montgomery "$scratch/montgomery" >"$scratch/got"
same "msm --scalar-form montgomery" "$scratch/got" "$scratch/coefficients"
"$tool" msm "$ptau:tauG1" --big-endian-scalars "$scratch/big" -o "$scratch/point"
head -c 32 /dev/zero >"$scratch/zero"
"$tool" msm "raw:$scratch/point" "$scratch/zero" >"$scratch/got"
expect 0 '^infinity$' cat "$scratch/got"
printf '\001' | cat - "$scratch/zero" | head -c 32 >"$scratch/one"
"$tool" msm "$scratch/point" "$scratch/one" --layout affine --form standard >"$scratch/got"
same "msm of one raw point" "$scratch/got" "$scratch/coefficients"
# Big-endian points, scalars and output; G2 has two elements per coordinate.
"$tool" msm "$ptau:tauG1" --big-endian "$scratch/big" -o "$scratch/big_point"
printf '\001' | cat "$scratch/zero" - | tail -c 32 >"$scratch/one_big"
"$tool" msm "raw:$scratch/big_point" "$scratch/one_big" --big-endian >"$scratch/got"
same "msm of a big-endian point" "$scratch/got" "$scratch/coefficients"
"$tool" msm "raw:$scratch/point" "$scratch/one_big" --big-endian-scalars >"$scratch/got"
same "msm of a little-endian point and a big-endian scalar" "$scratch/got" "$scratch/coefficients"
"$tool" msm "$ptau:tauG2" "$scratch/little" >"$scratch/g2"
"$tool" msm "$ptau:tauG2" "$scratch/big" --big-endian -o "$scratch/big_g2"
"$tool" msm "$scratch/big_g2" "$scratch/one_big" --big-endian --curve bn254_g2 >"$scratch/got"
same "msm of a big-endian point of G2" "$scratch/got" "$scratch/g2"
expect 2 'not montgomery' "$tool" msm "$scratch/point" "$scratch/one" --big-endian --form montgomery
expect 2 'no big-endian form' "$tool" msm "$scratch/point" "$scratch/one" --big-endian -l affine-flag
key=zkey:$vectors/iden3/poseidon_bn254.zkey
witness=wtns:$vectors/iden3/poseidon_bn254.wtns
expect 0 '^y 0x' "$tool" msm "$key:A" "$witness"
expect 0 '^x 0x[0-9a-f]* 0x[0-9a-f]*$' "$tool" msm "$key:B2" "$witness"
expect 0 '^x 0x' "$tool" msm "$key:C" "$witness" --skip 2
expect 2 'only 213 points' "$tool" msm "$key:C" "$witness"
expect 2 'only 215 scalars' "$tool" msm "$key:A" "$witness" --count 216
expect 2 'power of two of scalars' "$tool" msm "$key:A" "$witness" --bit-reverse
expect 2 'do not match' "$tool" msm "$setup" "$witness"
expect 2 "'$witness' holds elements, not points" "$tool" msm "$witness" "$key:A"
expect 2 'coefficients. holds coefficients of matrices, not points' \
    "$tool" msm "$key:coefficients" "$witness"
expect 2 'holds coefficients of matrices, not elements' "$tool" msm "$key:A" "$key:coefficients"
expect 2 'holds coefficients of matrices, not elements' "$tool" ntt "$key:coefficients"
expect 2 'holds points, not elements' "$tool" poseidon hash "$key:A"
expect 1 'no section' "$tool" msm "$key:Z" "$witness"

export DEVICEPOOL_CACHE_DIR="$scratch/cache"
[ "${DEVICEPOOL_NVRTC:-}" != last ] || unset DEVICEPOOL_NVRTC # what is prebuilt is not in the cache
expect 0 'set  *circom-bn254-t3' "$tool" warm-up babybear babybear_x4 circom-bn254-t3
expect 0 'poseidon' "$tool" cache list
expect 2 "no field, curve or parameter set 'x'" "$tool" warm-up babybear x

# Packs: compiled for a chip that is not here, and made of the cache.
packs="$scratch/packs"
expect 0 "sm_90  *3 .* $packs/sm_90.pack" "$tool" warm-up --chip 90 --output "$packs" babybear_x4
expect 0 "sm_90  *1[0-9]\.[0-9]  *3 .* $packs/sm_90.pack" "$tool" cache verify "$packs/sm_90.pack"
expect 0 "NVRTC 1[0-9]\.[0-9], 3 programs, $packs/sm_90.pack" env DEVICEPOOL_CACHE_LEVELS="$packs" "$tool" version
expect_json "import json, sys
(pack,) = json.load(sys.stdin)
assert pack['used'] and pack['programs'] == 3 and pack['compute_capability'] == 90, pack" \
    env DEVICEPOOL_CACHE_LEVELS="$packs" "$tool" cache levels --json
expect 0 'takes no machine code' env DEVICEPOOL_CACHE_LEVELS="$packs" "$tool" devices -d sim:1,cc=90
expect 0 'no packs' env DEVICEPOOL_CACHE_LEVELS=off "$tool" cache levels
chmod 775 "$packs"
expect 0 'other users can write in it' env DEVICEPOOL_CACHE_LEVELS="$packs" "$tool" cache levels
chmod 755 "$packs"
export DEVICEPOOL_CACHE_DIR="$scratch/other"
expect 0 'sm_90' "$tool" cache unpack "$packs/sm_90.pack"
expect 0 '3 entries kept, 0 deleted' "$tool" cache verify
expect 0 'sm_90  *1[0-9]\.[0-9]  *3 ' "$tool" cache pack "$scratch/packed"
expect 1 'no entries for sm_80' "$tool" cache pack --chip 80 "$scratch/packed"
printf x | dd of="$packs/sm_90.pack" bs=1 seek=300 conv=notrunc 2>/dev/null
expect 1 'is damaged' "$tool" cache verify "$packs/sm_90.pack"
expect 1 'is damaged' "$tool" cache unpack "$packs/sm_90.pack"
expect 0 'is not used: it is damaged' env DEVICEPOOL_CACHE_LEVELS="$packs" "$tool" version
expect 1 'does not compile machine code for sm_999' "$tool" warm-up --chip 999 --output "$packs" babybear_x4
exit $failed
