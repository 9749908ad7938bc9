// SPDX-License-Identifier: Apache-2.0
//! A program over hand-written declarations of the CUDA driver API: the sum of a vector, with a
//! reduction by shuffles.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

type Code = c_int;
type Handle = *mut c_void;
type Address = u64;

#[link(name = "cuda")]
extern "C" {
    fn cuInit(flags: c_uint) -> Code;
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Code;
    fn cuCtxCreate_v2(context: *mut Handle, flags: c_uint, device: c_int) -> Code;
    fn cuCtxDestroy_v2(context: Handle) -> Code;
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> Code;
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> Code;
    fn cuMemAlloc_v2(address: *mut Address, bytes: usize) -> Code;
    fn cuMemFree_v2(address: Address) -> Code;
    fn cuMemcpyHtoD_v2(to: Address, from: *const c_void, bytes: usize) -> Code;
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: Address, bytes: usize) -> Code;
    fn cuMemsetD32_v2(to: Address, value: c_uint, count: usize) -> Code;
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void,
    ) -> Code;
    fn cuGetErrorName(code: Code, name: *mut *const c_char) -> Code;
}

const PTX: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry sum(.param .u64 values, .param .u32 count, .param .u64 total)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %d<6>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r2, [count];
    mov.b64 %d5, 0;
    setp.ge.u32 %p, %r1, %r2;
    @%p bra add;
    ld.param.u64 %d1, [values];
    mul.wide.u32 %d2, %r1, 8;
    add.u64 %d1, %d1, %d2;
    ld.global.u64 %d5, [%d1];
add:
    mov.u32 %r4, 16;
step:
    mov.b64 {%r5, %r6}, %d5;
    shfl.sync.down.b32 %r5, %r5, %r4, 31, 0xffffffff;
    shfl.sync.down.b32 %r6, %r6, %r4, 31, 0xffffffff;
    mov.b64 %d4, {%r5, %r6};
    add.u64 %d5, %d5, %d4;
    shr.u32 %r4, %r4, 1;
    setp.ne.u32 %p, %r4, 0;
    @%p bra step;
    and.b32 %r7, %r3, 31;
    setp.ne.u32 %p, %r7, 0;
    @%p bra done;
    ld.param.u64 %d3, [total];
    red.global.add.u64 [%d3], %d5;
done:
    ret;
}
";

fn check(code: Code, what: &str) {
    if code != 0 {
        let mut name: *const c_char = ptr::null();
        unsafe { cuGetErrorName(code, &mut name) };
        let text = if name.is_null() { "unknown".into() } else { unsafe { CStr::from_ptr(name) }.to_string_lossy() };
        panic!("{what}: {text}");
    }
}

fn main() {
    let values: Vec<u64> = (0..10_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let expected = values.iter().fold(0u64, |sum, value| sum.wrapping_add(*value));
    let image = CString::new(PTX).unwrap();
    let name = CString::new("sum").unwrap();
    let (mut device, mut count) = (0, values.len() as u32);
    let (mut context, mut module, mut function): (Handle, Handle, Handle) =
        (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let (mut data, mut total) = (0 as Address, 0 as Address);
    let mut result = 0u64;

    unsafe {
        check(cuInit(0), "cuInit");
        check(cuDeviceGet(&mut device, 0), "cuDeviceGet");
        check(cuCtxCreate_v2(&mut context, 0, device), "cuCtxCreate");
        check(cuModuleLoadData(&mut module, image.as_ptr().cast()), "cuModuleLoadData");
        check(cuModuleGetFunction(&mut function, module, name.as_ptr()), "cuModuleGetFunction");
        check(cuMemAlloc_v2(&mut data, values.len() * 8), "cuMemAlloc");
        check(cuMemAlloc_v2(&mut total, 8), "cuMemAlloc");
        check(cuMemcpyHtoD_v2(data, values.as_ptr().cast(), values.len() * 8), "cuMemcpyHtoD");
        check(cuMemsetD32_v2(total, 0, 2), "cuMemsetD32");
        let mut arguments: [*mut c_void; 3] =
            [ptr::addr_of_mut!(data).cast(), ptr::addr_of_mut!(count).cast(), ptr::addr_of_mut!(total).cast()];
        let grid = ((values.len() + 255) / 256) as u32;
        check(
            cuLaunchKernel(
                function, grid, 1, 1, 256, 1, 1, 0, ptr::null_mut(), arguments.as_mut_ptr(), ptr::null_mut(),
            ),
            "cuLaunchKernel",
        );
        check(cuMemcpyDtoH_v2(ptr::addr_of_mut!(result).cast(), total, 8), "cuMemcpyDtoH");
        check(cuMemFree_v2(data), "cuMemFree");
        check(cuMemFree_v2(total), "cuMemFree");
        check(cuCtxDestroy_v2(context), "cuCtxDestroy");
    }
    assert_eq!(result, expected);
    println!("sum of {} numbers: right", values.len());
}
