// SPDX-License-Identifier: Apache-2.0
//! Where libdevicepool is: pkg-config says it, or DEVICEPOOL_LIB_DIR, the directory of libdevicepool.so.
use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=DEVICEPOOL_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-link-lib=devicepool");
    if let Ok(directory) = env::var("DEVICEPOOL_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", directory);
        return;
    }
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    // Without pkg-config the linker searches its own directories.
    let found = Command::new(program).args(["--libs-only-L", "devicepool"]).output();
    if !matches!(&found, Ok(output) if output.status.success()) {
        println!("cargo:warning=pkg-config does not find devicepool: if linking fails, set PKG_CONFIG_PATH to the directory \
                  of devicepool.pc, or DEVICEPOOL_LIB_DIR to that of libdevicepool.so");
    }
    if let Ok(output) = found {
        for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
            println!("cargo:rustc-link-search=native={}", word.trim_start_matches("-L"));
        }
    }
}
