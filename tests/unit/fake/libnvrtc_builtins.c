/* SPDX-License-Identifier: Apache-2.0 */
/* The builtins library of a fake libnvrtc: a symbol with the version. */
extern const int fake_builtins __asm__("fake_builtins_" FAKE_VERSION);
const int fake_builtins = 1;
