// SPDX-License-Identifier: Apache-2.0
//! Declarations of libdevicepool, written from its headers, whose comments say what each function does. Crate `devicepool`
//! is the one to use; this one has what that lacks.
#![no_std]
#![allow(non_camel_case_types, non_snake_case)]
extern crate std;

mod raw;
pub use raw::*;
