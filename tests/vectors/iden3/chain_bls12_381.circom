pragma circom 2.1.0;

// y = (... ((x + k + 1)^5 + k + 2)^5 ...)^5 and p = x * y: three public signals (y, p, k), one private.
template Power5() {
    signal input a;
    signal output b;
    signal a2 <== a * a;
    signal a4 <== a2 * a2;
    b <== a4 * a;
}

template Chain(rounds) {
    signal input x;
    signal input k;
    signal output y;
    signal output p;
    signal state[rounds + 1];
    component power[rounds];
    state[0] <== x;
    for (var i = 0; i < rounds; i++) {
        power[i] = Power5();
        power[i].a <== state[i] + k + i + 1;
        state[i + 1] <== power[i].b;
    }
    y <== state[rounds];
    p <== x * y;
}

component main {public [k]} = Chain(10);
