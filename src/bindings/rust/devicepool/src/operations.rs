// SPDX-License-Identifier: Apache-2.0
//! Fields, curves, and the operations on them.
use crate::lease::nanoseconds;
use crate::*;
use std::time::Duration;

/// A cancellation request, which any thread may make.
pub struct Cancel {
    raw: NonNull<sys::pool_cancel>,
}
owned!(Cancel, pool_cancel, pool_cancel_destroy);

impl Cancel {
    pub fn new() -> Result<Cancel> {
        Ok(Cancel { raw: made(|to| unsafe { sys::pool_cancel_create(to) })? })
    }

    pub fn request(&self) {
        unsafe { sys::pool_cancel_request(self.as_ptr()) }
    }

    pub fn is_requested(&self) -> bool {
        unsafe { sys::pool_cancel_requested(self.as_ptr()) != 0 }
    }
}

// --- spans -------------------------------------------------------------------------------------------

/// How elements are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Standard,
    Montgomery,
}

impl Form {
    fn raw(self) -> sys::pool_form {
        match self {
            Form::Standard => sys::POOL_FORM_STANDARD,
            Form::Montgomery => sys::POOL_FORM_MONTGOMERY,
        }
    }
}

/// An array that an operation reads: a slice of plain values, or a buffer, whose items are packed.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    data: *mut c_void,
    bytes: u64,
    space: sys::pool_memory_space,
    form: Form,
    buffer: *mut sys::pool_buffer,
    _borrowed: PhantomData<&'a [u8]>,
}

/// An array that an operation writes.
pub struct Output<'a> {
    place: Input<'a>,
}

impl<'a> Input<'a> {
    /// The elements inside are in this form.
    pub fn form(mut self, form: Form) -> Input<'a> {
        self.form = form;
        self
    }

    fn span(&self, item_bytes: usize) -> Result<sys::pool_span> {
        let item_bytes = item_bytes as u64;
        if item_bytes == 0 || self.bytes % item_bytes != 0 {
            return Err(Error::refused("the size of an array is no multiple of an item's"));
        }
        let count = self.bytes / item_bytes;
        let mut span =
            sys::pool_span { data: self.data, count, stride: 0, form: self.form.raw(), space: self.space };
        if !self.buffer.is_null() {
            check(unsafe { sys::pool_buffer_span(self.buffer, 0, count, self.form.raw(), &mut span) })?;
        }
        Ok(span)
    }
}

impl<'a, T: Plain> From<&'a [T]> for Input<'a> {
    fn from(from: &'a [T]) -> Input<'a> {
        Input {
            data: from.as_ptr() as *mut c_void,
            bytes: std::mem::size_of_val(from) as u64,
            space: sys::POOL_MEMORY_HOST,
            form: Form::Standard,
            buffer: null_mut(),
            _borrowed: PhantomData,
        }
    }
}

impl<'a, T: Plain> From<&'a Vec<T>> for Input<'a> {
    fn from(from: &'a Vec<T>) -> Input<'a> {
        from.as_slice().into()
    }
}

impl<'a> From<&'a Buffer> for Input<'a> {
    fn from(from: &'a Buffer) -> Input<'a> {
        Input {
            data: null_mut(),
            bytes: from.bytes(),
            space: sys::POOL_MEMORY_DEVICE,
            form: Form::Standard,
            buffer: from.as_ptr(),
            _borrowed: PhantomData,
        }
    }
}

impl<'a> Output<'a> {
    /// The elements are written in this form.
    pub fn form(mut self, form: Form) -> Output<'a> {
        self.place.form = form;
        self
    }
}

impl<'a, T: Plain> From<&'a mut [T]> for Output<'a> {
    fn from(to: &'a mut [T]) -> Output<'a> {
        let data = to.as_mut_ptr() as *mut c_void;
        let place = Input { data, ..Input::from(&*to) };
        Output { place: Input { _borrowed: PhantomData, ..place } }
    }
}

impl<'a, T: Plain> From<&'a mut Vec<T>> for Output<'a> {
    fn from(to: &'a mut Vec<T>) -> Output<'a> {
        to.as_mut_slice().into()
    }
}

impl<'a> From<&'a Buffer> for Output<'a> {
    fn from(to: &'a Buffer) -> Output<'a> {
        Output { place: to.into() }
    }
}

// --- where an operation runs -------------------------------------------------------------------------

/// Where and how an operation runs.
#[derive(Default)]
pub struct Exec<'a> {
    raw: sys::pool_exec,
    progress: Option<Box<dyn FnMut(u64, u64) + 'a>>,
    panic: Option<Box<dyn std::any::Any + Send>>,
    _borrowed: PhantomData<&'a ()>,
}

impl<'a> Exec<'a> {
    pub fn on(device: &'a Device) -> Exec<'a> {
        let mut exec = Exec::default();
        exec.raw.device = device.as_ptr();
        exec
    }

    /// On the lease's first device, within its budget.
    pub fn under(lease: &'a Lease) -> Exec<'a> {
        let mut exec = Exec::default();
        exec.raw.lease = lease.as_ptr();
        exec
    }

    pub fn stream(mut self, stream: &'a Stream) -> Exec<'a> {
        self.raw.stream = stream.as_ptr();
        self
    }

    /// `sys::POOL_CHECK_…`
    pub fn checks(mut self, checks: u32) -> Exec<'a> {
        self.raw.checks = checks;
        self
    }

    pub fn cancel(mut self, cancel: &'a Cancel) -> Exec<'a> {
        self.raw.cancel = cancel.as_ptr();
        self
    }

    pub fn memory_limit(mut self, bytes: u64) -> Exec<'a> {
        self.raw.memory_limit = bytes;
        self
    }

    /// Called with what is done and the total. A panic of it is resumed when the operation has returned.
    pub fn progress(mut self, report: impl FnMut(u64, u64) + 'a) -> Exec<'a> {
        self.progress = Some(Box::new(report));
        self
    }

    /// The operation returns after this time although a driver call does not.
    ///
    /// # Safety
    /// After POOL_ERR_TIMEOUT the library may still use the memory of the call until pool_device_wait_drained has succeeded for
    /// the device: it must stay valid and must not be used otherwise.
    pub unsafe fn timeout(mut self, time: Duration) -> Exec<'a> {
        self.raw.timeout_ns = nanoseconds(time);
        self
    }

    /// Makes a call with the struct of C.
    fn call(mut self, call: impl FnOnce(*const sys::pool_exec) -> sys::pool_status) -> Result<()> {
        unsafe extern "C" fn report(user: *mut c_void, done: u64, total: u64) {
            let exec = &mut *(user as *mut Exec<'static>);
            if let (Some(progress), None) = (&mut exec.progress, &exec.panic) {
                if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| progress(done, total))) {
                    exec.panic = Some(panic);
                }
            }
        }
        let mut raw = self.raw;
        if self.progress.is_some() {
            raw.progress = Some(report);
            raw.user = &mut self as *mut Exec<'a> as *mut c_void;
        }
        let result = check(call(&raw));
        if let Some(panic) = self.panic.take() {
            std::panic::resume_unwind(panic);
        }
        result
    }
}

// --- fields and curves -------------------------------------------------------------------------------

/// A prime field.
pub struct Field {
    raw: NonNull<sys::pool_field>,
}
owned!(Field, pool_field, pool_field_destroy);

impl Field {
    pub fn named(name: &str) -> Result<Field> {
        let name = c_string(name)?;
        unsafe { Field::of(sys::pool_field_by_name(name.as_ptr())) }.ok_or_else(Error::last)
    }

    /// The modulus is decimal, or hexadecimal after "0x".
    pub fn create(modulus: &str) -> Result<Field> {
        let modulus = c_string(modulus)?;
        let params = sys::pool_field_params { modulus: modulus.as_ptr(), ..Default::default() };
        Ok(Field { raw: made(|to| unsafe { sys::pool_field_create(&params, to) })? })
    }

    /// With a reference of its own.
    unsafe fn of(from: *const sys::pool_field) -> Option<Field> {
        NonNull::new(sys::pool_field_retain(from)).map(|raw| Field { raw })
    }

    pub fn element_bytes(&self) -> usize {
        unsafe { sys::pool_field_element_bytes(self.as_ptr()) as usize }
    }

    fn element(&self, call: impl FnOnce(*mut c_void) -> sys::pool_status) -> Result<Vec<u8>> {
        self.elements(1, call)
    }

    fn elements(&self, count: usize, call: impl FnOnce(*mut c_void) -> sys::pool_status) -> Result<Vec<u8>> {
        let mut to = vec![0u8; count * self.element_bytes()];
        check(call(to.as_mut_ptr().cast()))?;
        Ok(to)
    }

    /// Little-endian.
    pub fn modulus(&self) -> Result<Vec<u8>> {
        self.element(|to| unsafe { sys::pool_field_modulus(self.as_ptr(), to) })
    }

    pub fn root_of_unity(&self, log2_order: u32) -> Result<Vec<u8>> {
        self.element(|to| unsafe {
            sys::pool_field_root_of_unity(self.as_ptr(), null(), log2_order, sys::POOL_FORM_STANDARD, to)
        })
    }

    /// For tests, not for secrets.
    pub fn random(&self, count: usize, seed: u64) -> Result<Vec<u8>> {
        self.elements(count, |to| unsafe {
            sys::pool_random_scalars(self.as_ptr(), seed, count as _, sys::POOL_FORM_STANDARD, to)
        })
    }

    pub fn to_montgomery(&self, standard: &[u8]) -> Result<Vec<u8>> {
        let count = self.count(standard)?;
        self.elements(count, |to| unsafe {
            sys::pool_field_to_montgomery(self.as_ptr(), standard.as_ptr().cast(), count as _, to)
        })
    }

    pub fn from_montgomery(&self, montgomery: &[u8]) -> Result<Vec<u8>> {
        let count = self.count(montgomery)?;
        self.elements(count, |to| unsafe {
            sys::pool_field_from_montgomery(self.as_ptr(), montgomery.as_ptr().cast(), count as _, to)
        })
    }

    fn count(&self, elements: &[u8]) -> Result<usize> {
        whole_items(elements.len(), self.element_bytes())
    }
}

fn whole_items(bytes: usize, item_bytes: usize) -> Result<usize> {
    if item_bytes == 0 || bytes % item_bytes != 0 {
        return Err(Error::refused("the size of an array is no multiple of an item's"));
    }
    Ok(bytes / item_bytes)
}

/// A curve.
pub struct Curve {
    raw: NonNull<sys::pool_curve>,
}
owned!(Curve, pool_curve, pool_curve_destroy);

impl Curve {
    pub fn named(name: &str) -> Result<Curve> {
        let name = c_string(name)?;
        let found = unsafe { sys::pool_curve_retain(sys::pool_curve_by_name(name.as_ptr())) };
        NonNull::new(found).map(|raw| Curve { raw }).ok_or_else(Error::last)
    }

    /// From params of C.
    ///
    /// # Safety
    /// Their pointers are valid.
    pub unsafe fn create(params: &sys::pool_curve_params) -> Result<Curve> {
        Ok(Curve { raw: made(|to| sys::pool_curve_create(params, to))? })
    }

    pub fn scalar_field(&self) -> Field {
        unsafe { Field::of(sys::pool_curve_scalar_field(self.as_ptr())) }.expect("a curve has a scalar field")
    }

    /// Of an affine point.
    pub fn point_bytes(&self) -> usize {
        unsafe { sys::pool_point_bytes(self.as_ptr(), sys::POOL_POINT_AFFINE) as usize }
    }

    fn points(&self, count: usize, call: impl FnOnce(*mut c_void) -> sys::pool_status) -> Result<Vec<u8>> {
        let mut to = vec![0u8; count * self.point_bytes()];
        check(call(to.as_mut_ptr().cast()))?;
        Ok(to)
    }

    fn point(&self, from: &[u8]) -> Result<*const c_void> {
        if from.len() != self.point_bytes() {
            return Err(Error::refused("a point of another size"));
        }
        Ok(from.as_ptr().cast())
    }

    pub fn generator(&self) -> Result<Vec<u8>> {
        self.points(1, |to| unsafe { sys::pool_curve_generator(self.as_ptr(), null(), to) })
    }

    /// On the host: for checking results.
    pub fn add(&self, p: &[u8], q: &[u8]) -> Result<Vec<u8>> {
        let (p, q) = (self.point(p)?, self.point(q)?);
        self.points(1, |to| unsafe { sys::pool_point_add(self.as_ptr(), null(), p, q, to) })
    }

    /// On the host: for checking results. The scalar is little-endian.
    pub fn multiply(&self, p: &[u8], scalar: &[u8]) -> Result<Vec<u8>> {
        let p = self.point(p)?;
        self.points(1, |to| unsafe {
            sys::pool_point_mul(self.as_ptr(), null(), p, scalar.as_ptr(), scalar.len() as _, to)
        })
    }

    /// Points, and the scalars by which they are multiples of the generator: for tests.
    pub fn random_points(&self, count: usize, seed: u64) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut scalars = vec![0u8; count * self.scalar_field().element_bytes()];
        let points = self.points(count, |to| unsafe {
            sys::pool_random_points(self.as_ptr(), seed, count as _, null(), to, scalars.as_mut_ptr().cast())
        })?;
        Ok((points, scalars))
    }

    pub fn encode(&self, points: &[u8], encoding: sys::pool_encoding) -> Result<Vec<u8>> {
        let count = whole_items(points.len(), self.point_bytes())?;
        let mut to = vec![0u8; count * unsafe { sys::pool_encoding_bytes(self.as_ptr(), encoding) as usize }];
        check(unsafe {
            sys::pool_points_encode(
                self.as_ptr(), null(), points.as_ptr().cast(), count as _, encoding, 0, to.as_mut_ptr())
        })?;
        Ok(to)
    }

    /// Points are checked to be in the subgroup.
    pub fn decode(&self, encoded: &[u8], encoding: sys::pool_encoding) -> Result<Vec<u8>> {
        let size = unsafe { sys::pool_encoding_bytes(self.as_ptr(), encoding) as usize };
        let count = if size == 0 { 0 } else { whole_items(encoded.len(), size)? };
        self.points(count, |to| unsafe {
            let checks = sys::POOL_CHECK_SUBGROUP;
            sys::pool_points_decode(self.as_ptr(), encoding, 0, encoded.as_ptr(), count as _, checks, null(), to)
        })
    }
}

// --- operations --------------------------------------------------------------------------------------

/// Base points that stay on a device.
pub struct Bases {
    raw: NonNull<sys::pool_bases>,
    _pool: Pool,
}
owned!(Bases, pool_bases, pool_bases_destroy);

impl Bases {
    /// `factor` multiples of each are stored; `sys::POOL_PRECOMPUTE_ALL`: one per window.
    pub fn create<'a>(curve: &Curve, points: impl Into<Input<'a>>, factor: u32, device: &Device) -> Result<Bases> {
        let span = points.into().span(curve.point_bytes())?;
        let params =
            sys::pool_bases_params { curve: curve.as_ptr(), precompute_factor: factor, ..Default::default() };
        let mut raw = null_mut();
        Exec::on(device).call(|exec| unsafe { sys::pool_bases_create(&params, exec, &span, &mut raw) })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::refused("the library has written no bases"))?;
        Ok(Bases { raw, _pool: device.pool().clone() })
    }

    pub fn len(&self) -> u64 {
        unsafe { sys::pool_bases_count(self.as_ptr()) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The points of MSMs.
pub enum Points<'a> {
    Span(Input<'a>),
    Bases(&'a Bases),
}

/// The sum of scalars times points.
pub fn msm<'a>(
    curve: &Curve,
    points: impl Into<Input<'a>>,
    scalars: impl Into<Input<'a>>,
    exec: Exec<'_>,
) -> Result<Vec<u8>> {
    let mut sum = vec![0u8; curve.point_bytes()];
    msm_into(curve, Points::Span(points.into()), scalars, &mut sum, |_| (), exec)?;
    Ok(sum)
}

/// The same for bases.
pub fn msm_bases<'a>(
    curve: &Curve,
    bases: &Bases,
    scalars: impl Into<Input<'a>>,
    exec: Exec<'_>,
) -> Result<Vec<u8>> {
    let mut sum = vec![0u8; curve.point_bytes()];
    msm_into(curve, Points::Bases(bases), scalars, &mut sum, |_| (), exec)?;
    Ok(sum)
}

/// MSMs with further params (a batch, other window bits), which `change` sets, to memory of the caller.
pub fn msm_into<'a, 'b>(
    curve: &Curve,
    points: Points<'_>,
    scalars: impl Into<Input<'a>>,
    results: impl Into<Output<'b>>,
    change: impl FnOnce(&mut sys::pool_msm_params),
    exec: Exec<'_>,
) -> Result<()> {
    let mut params = sys::pool_msm_params::default();
    change(&mut params);
    params.curve = curve.as_ptr();
    let size = |layout| unsafe { sys::pool_point_bytes(curve.as_ptr(), layout) as usize };
    let mut from = None;
    match points {
        Points::Span(input) => from = Some(input.span(size(params.point_layout))?),
        Points::Bases(bases) => params.bases = bases.as_ptr(),
    }
    let scalars = scalars.into().span(curve.scalar_field().element_bytes())?;
    let results = results.into().place.span(size(params.result_layout))?;
    let from = from.as_ref().map_or(null(), |span| span as *const _);
    exec.call(|exec| unsafe { sys::pool_msm(&params, exec, from, &scalars, &results) })
}

/// A multiplicative subgroup of order 2^log_size, for transforms on the devices of a pool, where its tables are.
pub struct Domain {
    raw: NonNull<sys::pool_ntt_domain>,
    _pool: Pool,
}
owned!(Domain, pool_ntt_domain, pool_ntt_domain_destroy);

impl Domain {
    pub fn create(pool: &Pool, field: &Field, log_size: u32) -> Result<Domain> {
        let params = sys::pool_ntt_domain_params { field: field.as_ptr(), log_size, ..Default::default() };
        Ok(Domain { raw: made(|to| unsafe { sys::pool_ntt_domain_create(&params, to) })?, _pool: pool.clone() })
    }

    fn element_bytes(&self) -> usize {
        unsafe { sys::pool_field_element_bytes(sys::pool_ntt_domain_field(self.as_ptr())) as usize }
    }
}

/// Which transform: the members of pool_ntt_params.
#[derive(Clone, Copy)]
pub struct Transform {
    pub is_inverse: bool,
    pub coset: bool,
    /// `sys::POOL_NTT_NN` and others.
    pub order: sys::pool_ntt_order,
    pub columns: bool,
    pub batch: u64,
}

impl Default for Transform {
    fn default() -> Transform {
        Transform { is_inverse: false, coset: false, order: sys::POOL_NTT_NN, columns: false, batch: 1 }
    }
}

impl Transform {
    fn params(&self, domain: &Domain) -> sys::pool_ntt_params {
        sys::pool_ntt_params {
            domain: domain.as_ptr(),
            direction: if self.is_inverse { sys::POOL_NTT_INVERSE } else { sys::POOL_NTT_FORWARD },
            coset: self.coset as i32,
            order: self.order,
            layout: if self.columns { sys::POOL_NTT_COLUMNS } else { sys::POOL_NTT_ROWS },
            batch: self.batch,
            ..Default::default()
        }
    }
}

pub fn ntt<'a, 'b>(
    domain: &Domain,
    which: Transform,
    from: impl Into<Input<'a>>,
    to: impl Into<Output<'b>>,
    exec: Exec<'_>,
) -> Result<()> {
    let (from, to) = (from.into().span(domain.element_bytes())?, to.into().place.span(domain.element_bytes())?);
    let params = which.params(domain);
    exec.call(|exec| unsafe { sys::pool_ntt(&params, exec, &from, &to) })
}

pub fn ntt_in_place<'b>(
    domain: &Domain,
    which: Transform,
    data: impl Into<Output<'b>>,
    exec: Exec<'_>,
) -> Result<()> {
    let span = data.into().place.span(domain.element_bytes())?;
    let params = which.params(domain);
    exec.call(|exec| unsafe { sys::pool_ntt(&params, exec, &span, &span) })
}

/// A Poseidon parameter set.
pub struct Poseidon {
    raw: NonNull<sys::pool_poseidon>,
}
owned!(Poseidon, pool_poseidon, pool_poseidon_destroy);

impl Poseidon {
    pub fn named(name: &str) -> Result<Poseidon> {
        let name = c_string(name)?;
        Ok(Poseidon { raw: made(|to| unsafe { sys::pool_poseidon_by_name(name.as_ptr(), to) })? })
    }

    pub fn field(&self) -> Field {
        unsafe { Field::of(sys::pool_poseidon_field(self.as_ptr())) }.expect("a parameter set has a field")
    }

    pub fn digest_bytes(&self) -> usize {
        unsafe { sys::pool_poseidon_digest_elements(self.as_ptr()) as usize * self.field().element_bytes() }
    }

    /// A digest for each `elements` elements.
    pub fn hash<'a>(&self, inputs: impl Into<Input<'a>>, elements: u32, exec: Exec<'_>) -> Result<Vec<u8>> {
        let from = inputs.into().span(elements as usize * self.field().element_bytes())?;
        let mut digests = vec![0u8; from.count as usize * self.digest_bytes()];
        let to = Output::from(&mut digests).place.span(self.digest_bytes())?;
        exec.call(|exec| unsafe { sys::pool_poseidon_hash(self.as_ptr(), exec, &from, elements, &to) })?;
        Ok(digests)
    }

    pub fn permute<'a>(&self, states: impl Into<Input<'a>>, exec: Exec<'_>) -> Result<Vec<u8>> {
        let size = unsafe { sys::pool_poseidon_width(self.as_ptr()) as usize } * self.field().element_bytes();
        let from = states.into().span(size)?;
        let mut results = vec![0u8; from.count as usize * size];
        let to = Output::from(&mut results).place.span(size)?;
        exec.call(|exec| unsafe { sys::pool_poseidon_permute(self.as_ptr(), exec, &from, &to) })?;
        Ok(results)
    }

    /// All levels of a tree of digests, the root last.
    pub fn merkle<'a>(&self, leaves: impl Into<Input<'a>>, arity: u32, exec: Exec<'_>) -> Result<Vec<u8>> {
        let from = leaves.into().span(self.digest_bytes())?;
        let params = sys::pool_merkle_params { arity, ..Default::default() };
        let mut shape = sys::pool_merkle_shape::default();
        check(unsafe { sys::pool_merkle_get_shape(self.as_ptr(), &params, from.count, &mut shape) })?;
        let mut levels = vec![0u8; shape.bytes as usize];
        let to = Output::from(&mut levels).place.span(self.digest_bytes())?;
        exec.call(|exec| unsafe { sys::pool_poseidon_merkle_build(self.as_ptr(), exec, &params, &from, &to) })?;
        Ok(levels)
    }
}

/// Element-wise operations.
#[derive(Clone, Copy)]
pub enum Vector<'a> {
    Add(Input<'a>, Input<'a>),
    Sub(Input<'a>, Input<'a>),
    Mul(Input<'a>, Input<'a>),
    /// One element, and a vector.
    Scale(&'a [u8], Input<'a>),
    Inverse(Input<'a>),
    BitReverse(Input<'a>),
}

pub fn vector<'b>(
    operation: Vector<'_>,
    field: &Field,
    out: impl Into<Output<'b>>,
    exec: Exec<'_>,
) -> Result<()> {
    let size = field.element_bytes();
    let to = out.into().place.span(size)?;
    let raw = field.as_ptr();
    type Two = unsafe extern "C" fn(
        *const sys::pool_field,
        *const sys::pool_exec,
        *const sys::pool_span,
        *const sys::pool_span,
        *const sys::pool_span,
    ) -> sys::pool_status;
    let (two, a, b): (Two, _, _) = match operation {
        Vector::Add(a, b) => (sys::pool_vector_add, a, b),
        Vector::Sub(a, b) => (sys::pool_vector_sub, a, b),
        Vector::Mul(a, b) => (sys::pool_vector_mul, a, b),
        Vector::Scale(scalar, a) => {
            if scalar.len() != size {
                return Err(Error::refused("the scalar is no element of the field"));
            }
            let from = a.span(size)?;
            return exec
                .call(|exec| unsafe { sys::pool_vector_scale(raw, exec, scalar.as_ptr().cast(), &from, &to) });
        }
        Vector::Inverse(a) => {
            let from = a.span(size)?;
            return exec.call(|exec| unsafe { sys::pool_vector_inverse(raw, exec, &from, &to) });
        }
        Vector::BitReverse(a) => {
            let from = a.span(size)?;
            return exec.call(|exec| unsafe { sys::pool_vector_bit_reverse(raw, exec, &from, &to) });
        }
    };
    let (a, b) = (a.span(size)?, b.span(size)?);
    exec.call(|exec| unsafe { two(raw, exec, &a, &b, &to) })
}
