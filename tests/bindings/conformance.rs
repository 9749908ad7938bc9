// SPDX-License-Identifier: Apache-2.0
//! The rows of rows.txt by crate devicepool.
//! usage: conformance rows.txt
use devicepool::*;
use std::collections::HashMap;
use std::convert::TryInto;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::time::Duration;

type Answer = std::result::Result<String, Box<dyn std::error::Error>>;

struct Rows {
    named: HashMap<String, Vec<u8>>,
    pool: Pool,
    device: Device,
}

fn is_send_and_sync<T: Send + Sync>() {}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = Box::pin(future);
    let waker = Arc::new(Unpark(std::thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

fn shown(answer: &[u8]) -> String {
    if answer.len() <= 64 {
        return answer.iter().map(|byte| format!("{:02x}", byte)).collect();
    }
    let mut hash = 0xcbf29ce484222325u64;
    for byte in answer {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100000001b3);
    }
    format!("fnv:{:016x}", hash)
}

fn elements(field: &Field, word: &str) -> Vec<u8> {
    let (start, count) = word.split_once(':').unwrap();
    let (start, count): (u64, u64) = (start.parse().unwrap(), count.parse().unwrap());
    let mut made = Vec::new();
    for value in start..start + count {
        let mut element = value.to_le_bytes().to_vec();
        element.resize(field.element_bytes(), 0);
        made.extend(element);
    }
    made
}

fn name_of<T>(result: Result<T>) -> String {
    result.err().map_or("POOL_OK", |error| error.name()).to_string()
}

fn failure<T>(result: Result<T>, with_code: bool) -> String {
    match result {
        Ok(_) => "POOL_OK".into(),
        Err(error) if with_code => format!("{} {} {}", error.name(), error.harms().name(), error.code),
        Err(error) => format!("{} {}", error.name(), error.harms().name()),
    }
}

fn field_answer(field: Field) -> Answer {
    Ok(format!("{} {}", field.element_bytes(), shown(&field.modulus()?)))
}

fn fault_rules(rules: Option<&str>) -> Result<()> {
    let rules = rules.map(|text| std::ffi::CString::new(text).unwrap());
    check(unsafe { sys::pool_sim_set_faults(rules.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())) })
}

impl Rows {
    fn content(&self, word: &str) -> Vec<u8> {
        match word.strip_prefix('@') {
            Some(name) => self.named[name].clone(),
            None => (0..word.len()).step_by(2).map(|i| u8::from_str_radix(&word[i..i + 2], 16).unwrap()).collect(),
        }
    }

    fn all(pool: &Pool) -> Result<Lease> {
        pool.acquire(&Request { devices: pool.len() as u32, ..Default::default() })
    }

    fn narrow(devices: &str) -> Result<Pool> {
        Pool::with(devices, |params| params.slots = 1)
    }

    fn launch(&self, kernel: Kernel, buffer: &Buffer, factor: u32, count: u32) -> Result<()> {
        let arguments = [buffer.try_into()?, factor.into(), count.into()];
        unsafe { kernel.launch(&threads_for(count.into())?, &arguments, None) }
    }

    fn answer(&self, operation: &str, a: &[&str]) -> Answer {
        let number = |i: usize| a[i].parse::<u64>().unwrap();
        let device = &self.device;
        Ok(match operation {
            "version" => unsafe { std::ffi::CStr::from_ptr(sys::pool_version_text()) }.to_str()?.into(),
            "devices" => Pool::open(a[0])?.len().to_string(),
            "next" => {
                let pool = Pool::open(a[0])?;
                let indices: Result<Vec<_>> = (0..number(1)).map(|_| Ok(pool.next()?.index().to_string())).collect();
                indices?.join(" ")
            }
            "best" => Pool::open(a[0])?.best()?.index().to_string(),
            "pick_filter" => {
                let wanted = number(1) as usize;
                Pool::open(a[0])?.pick(sys::POOL_POLICY_MOST_FREE, |device| device.index == wanted)?.index().to_string()
            }
            "pick_score" => Pool::open(a[0])?.pick_by_score(|device| device.index as f64)?.index().to_string(),
            "by_uuid" => {
                let pool = Pool::open(a[0])?;
                pool.by_uuid(&pool.at(number(1) as usize)?.uuid())?.index().to_string()
            }
            "total" => Pool::open(a[0])?.at(0)?.info()?.total_bytes.to_string(),
            "health" => {
                let health = Pool::open(a[0])?.health()?;
                let harmed = unsafe { std::ffi::CStr::from_ptr(sys::pool_error_class_name(health.harmed)) }.to_str()?;
                format!("{} {} {}", harmed, health.devices, health.usable_devices)
            }
            "create_error" => failure(Pool::open(a[0]), false),
            "bound" => {
                let pool = Pool::open(a[0])?;
                let mut bindings = Vec::new();
                for i in 1..a.len() {
                    bindings.push(pool.at(number(i) as usize)?.bind()?);
                }
                let bound = pool.bound()?.index();
                while bindings.pop().is_some() {}
                bound.to_string()
            }
            "not_bound" => name_of(Pool::open(a[0])?.bound()),
            "copy" => shown(&device.upload(&self.content(a[0]))?.to_vec()?),
            "slice" => shown(&device.upload(&self.content(a[0]))?.slice(number(1), number(2))?.to_vec()?),
            "fill" => {
                let buffer = device.zeroed(number(0))?;
                buffer.fill(number(1) as u8, number(2), number(3))?;
                shown(&buffer.to_vec()?)
            }
            "copy_error" => name_of(device.alloc(number(1))?.write(number(2), &self.content(a[0]))),
            "pinned" => {
                let from = self.content(a[0]);
                let (mut pinned, buffer) = (device.pinned(from.len())?, device.alloc(from.len() as u64)?);
                pinned.as_mut_slice().copy_from_slice(&from);
                buffer.write(0, pinned.as_slice())?;
                shown(&buffer.to_vec()?)
            }
            "stream" => {
                let stream = device.stream()?;
                stream.synchronize()?;
                if stream.is_idle()? { "idle" } else { "busy" }.into()
            }
            "launch" => {
                let module = device.load(&self.content(a[0]))?;
                let numbers: Vec<u32> = (0..number(2) as u32).collect();
                let buffer = device.upload(&numbers)?;
                self.launch(module.kernel(a[1])?, &buffer, number(3) as u32, number(2) as u32)?;
                shown(&buffer.to_vec()?)
            }
            "launch_error" => {
                let module = device.load(&self.content(a[0]))?;
                let buffer = device.alloc(4)?;
                let shape = threads_for(1)?;
                name_of(unsafe { module.kernel(a[1])?.launch(&shape, &[(&buffer).try_into()?], None) })
            }
            "kernel_error" => name_of(device.load(&self.content(a[0]))?.kernel(a[1])),
            "image_error" => name_of(device.load(&self.content(a[0]))),
            "field" => field_answer(Field::named(a[0])?)?,
            "field_custom" => field_answer(Field::create(a[0])?)?,
            "field_error" => name_of(Field::create(a[0])),
            "field_unknown" => name_of(Field::named(a[0])),
            "root" => shown(&Field::named(a[0])?.root_of_unity(number(1) as u32)?),
            "montgomery" => {
                let field = Field::named(a[0])?;
                let converted = field.to_montgomery(&elements(&field, a[1]))?;
                assert_eq!(field.from_montgomery(&converted)?, elements(&field, a[1]));
                shown(&converted)
            }
            "vector" => {
                let field = Field::named(a[1])?;
                let last = elements(&field, a[a.len() - 1]);
                let first = if a[2].contains(':') { elements(&field, a[2]) } else { elements(&field, &format!("{}:1", a[2])) };
                let mut out = vec![0u8; last.len()];
                let operation = match a[0] {
                    "add" => Vector::Add((&first).into(), (&last).into()),
                    "sub" => Vector::Sub((&first).into(), (&last).into()),
                    "mul" => Vector::Mul((&first).into(), (&last).into()),
                    "scale" => Vector::Scale(&first, (&last).into()),
                    "inverse" => Vector::Inverse((&last).into()),
                    _ => Vector::BitReverse((&last).into()),
                };
                vector(operation, &field, &mut out, Exec::on(device))?;
                shown(&out)
            }
            "ntt" => {
                let field = Field::named(a[0])?;
                let domain = Domain::create(&self.pool, &field, number(1) as u32)?;
                let order = match a[4] {
                    "nn" => sys::POOL_NTT_NN,
                    "nr" => sys::POOL_NTT_NR,
                    "rn" => sys::POOL_NTT_RN,
                    _ => sys::POOL_NTT_RR,
                };
                let which = Transform {
                    is_inverse: a[2] == "inverse",
                    coset: a[3] == "1",
                    order,
                    columns: a[5] == "columns",
                    batch: number(6),
                };
                let from = elements(&field, a[7]);
                let (mut to, mut same) = (vec![0u8; from.len()], from.clone());
                ntt(&domain, which, &from, &mut to, Exec::on(device))?;
                ntt_in_place(&domain, which, &mut same, Exec::on(device))?;
                assert_eq!(to, same);
                shown(&to)
            }
            "ntt_error" => {
                let field = Field::named(a[0])?;
                let domain = Domain::create(&self.pool, &field, number(1) as u32)?;
                let mut data = elements(&field, a[2]);
                name_of(ntt_in_place(&domain, Transform::default(), &mut data, Exec::on(device)))
            }
            "progress" => {
                let field = Field::named(a[0])?;
                let domain = Domain::create(&self.pool, &field, number(1) as u32)?;
                let mut data = field.random((number(2) << number(1)) as usize, 1)?;
                let mut last = String::new();
                let which = Transform { batch: number(2), ..Default::default() };
                let exec = Exec::on(device).progress(|done, total| last = format!("{} {}", done, total));
                ntt_in_place(&domain, which, &mut data, exec)?;
                last
            }
            "hash" => {
                let set = Poseidon::named(a[0])?;
                shown(&set.hash(&elements(&set.field(), a[2]), number(1) as u32, Exec::on(device))?)
            }
            "permute" => shown(&Poseidon::named(a[0])?.permute(&self.content(a[1]), Exec::on(device))?),
            "merkle" => {
                let set = Poseidon::named(a[0])?;
                let levels = set.merkle(&elements(&set.field(), a[2]), number(1) as u32, Exec::on(device))?;
                shown(&levels[levels.len() - set.digest_bytes()..])
            }
            "hash_unknown" => name_of(Poseidon::named(a[0])),
            "msm" => {
                let curve = Curve::named(a[0])?;
                let (points, scalars) = (self.content(a[1]), self.content(a[2]));
                let mut sums = vec![0u8; number(3) as usize * curve.point_bytes()];
                let change = |params: &mut sys::pool_msm_params| {
                    params.batch = number(3);
                    params.shared_bases = number(4) as i32;
                };
                msm_into(&curve, Points::Span((&points).into()), &scalars, &mut sums, change, Exec::on(device))?;
                shown(&sums)
            }
            "msm_bases" => {
                let curve = Curve::named(a[0])?;
                let factor = if a[3] == "all" { sys::POOL_PRECOMPUTE_ALL } else { number(3) as u32 };
                let bases = Bases::create(&curve, &self.content(a[1]), factor, device)?;
                shown(&msm_bases(&curve, &bases, &self.content(a[2]), Exec::default())?)
            }
            "msm_device" => {
                let curve = Curve::named(a[0])?;
                let (points, scalars) = (device.upload(&self.content(a[1]))?, device.upload(&self.content(a[2]))?);
                let sum = device.alloc(curve.point_bytes() as u64)?;
                msm_into(&curve, Points::Span((&points).into()), &scalars, &sum, |_| (), Exec::on(device))?;
                shown(&sum.to_vec()?)
            }
            "msm_async" => {
                let start = || {
                    let (name, device) = (a[0].to_string(), device.clone());
                    let (points, scalars) = (self.content(a[1]), self.content(a[2]));
                    run(move || msm(&Curve::named(&name)?, &points, &scalars, Exec::on(&device)))
                };
                let (first, second) = (start(), start());
                let sum = first.wait()?;
                assert_eq!(sum, block_on(second)?);
                shown(&sum)
            }
            "msm_lease" => {
                let lease = self.pool.acquire(&Request::bytes(number(3)))?;
                let (points, scalars) = (self.content(a[1]), self.content(a[2]));
                shown(&msm(&Curve::named(a[0])?, &points, &scalars, Exec::under(&lease))?)
            }
            "msm_error" => {
                let check = if a[3] == "canonical" { sys::POOL_CHECK_CANONICAL } else { sys::POOL_CHECK_ON_CURVE };
                let (points, scalars) = (self.content(a[1]), self.content(a[2]));
                name_of(msm(&Curve::named(a[0])?, &points, &scalars, Exec::on(device).checks(check)))
            }
            "cancelled" => {
                let cancel = Cancel::new()?;
                cancel.request();
                let (points, scalars) = (self.content(a[1]), self.content(a[2]));
                name_of(msm(&Curve::named(a[0])?, &points, &scalars, Exec::on(device).cancel(&cancel)))
            }
            "encode" => shown(&Curve::named(a[0])?.encode(&self.content(a[1]), sys::POOL_ENCODING_ZCASH_COMPRESSED)?),
            "decode_error" => {
                name_of(Curve::named(a[0])?.decode(&self.content(a[1]), sys::POOL_ENCODING_ZCASH_COMPRESSED))
            }
            "point_add" => shown(&Curve::named(a[0])?.add(&self.content(a[1]), &self.content(a[2]))?),
            "point_multiply" => {
                shown(&Curve::named(a[0])?.multiply(&self.content(a[1]), &number(2).to_le_bytes())?)
            }
            "lease" => {
                let request = Request { bytes: number(1), devices: number(2) as u32, ..Default::default() };
                let lease = Pool::open(a[0])?.acquire(&request)?;
                format!("{} {}", lease.info()?.bytes, lease.len())
            }
            "lease_used" => {
                let lease = Pool::open(a[0])?.acquire(&Request::bytes(number(1)))?;
                let _buffer = lease.device(0)?.alloc_under(&lease, number(2))?;
                lease.usage(0)?.used_bytes.to_string()
            }
            "lease_exceeded" => {
                let lease = Pool::open(a[0])?.acquire(&Request::bytes(number(1)))?;
                name_of(lease.device(0)?.alloc_under(&lease, number(2)))
            }
            "lease_slots" => {
                name_of(Pool::open(a[0])?.acquire(&Request { slots: number(1) as u32, ..Default::default() }))
            }
            "lease_timeout" => {
                let pool = Rows::narrow(a[0])?;
                let _all = Rows::all(&pool)?;
                name_of(pool.acquire(&Request { timeout: Some(Duration::from_millis(1)), ..Default::default() }))
            }
            "ticket" => {
                let pool = Rows::narrow(a[0])?;
                let all = Rows::all(&pool)?;
                let (first, second) = (pool.acquire_async(&Request::bytes(number(1)))?, pool.acquire_async(&Request::bytes(1))?);
                let withdrawn = pool.acquire_async(&Request::default())?;
                assert!(!first.is_ready());
                drop((withdrawn, pool)); // the leases keep the pool
                drop(all);
                let lease = block_on(first)?;
                second.wait()?;
                lease.info()?.bytes.to_string()
            }
            "ticket_cancelled" => {
                let pool = Rows::narrow(a[0])?;
                let _all = Rows::all(&pool)?;
                let future = pool.acquire_async(&Request::default())?;
                future.cancel();
                name_of(block_on(future))
            }
            "fault" => {
                fault_rules(Some(a[0]))?;
                let answer = failure(device.alloc(1 << 20), true);
                fault_rules(None)?;
                answer
            }
            "worker" => {
                let pool = Pool::open(a[0])?;
                let copies = || -> Result<()> {
                    for _ in 0..1000 {
                        assert_eq!(pool.at(0)?.upload(b"worker")?.to_vec()?, b"worker");
                    }
                    Ok(())
                };
                failure(copies(), false)
            }
            "poisoned" => {
                let module = device.load(&self.content(a[0]))?;
                let buffer = device.alloc(4)?;
                fault_rules(Some(a[2]))?;
                let launched = self.launch(module.kernel(a[1])?, &buffer, 1, 1);
                failure(launched.and_then(|_| device.synchronize()), true)
            }
            _ => return Err(format!("no operation {}", operation).into()),
        })
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    is_send_and_sync::<(Pool, Device, Stream, Buffer, Pinned, Module)>();
    is_send_and_sync::<(Field, Curve, Bases, Domain, Poseidon, Cancel, Lease, LeaseFuture, Error, Kernel<'static>)>();
    let pool = Pool::open("sim:3")?;
    let mut rows = Rows { named: HashMap::new(), device: pool.at(0)?, pool };
    for line in std::fs::read_to_string(std::env::args().nth(1).ok_or("usage: conformance rows.txt")?)?.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "data" => {
                let content = rows.content(words[2]);
                rows.named.insert(words[1].into(), content);
            }
            "row" => {
                let end = words.iter().position(|word| *word == "=").unwrap();
                println!("{} {}", words[1], rows.answer(words[2], &words[3..end])?);
            }
            _ => (),
        }
    }
    Ok(())
}
