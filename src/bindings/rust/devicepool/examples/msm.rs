// SPDX-License-Identifier: Apache-2.0
//! A multi-scalar multiplication and a transform under a lease, checked: msm [DEVICES]
use devicepool::{msm, ntt_in_place, Curve, Domain, Exec, Pool, Request, Transform};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::open(&std::env::args().nth(1).unwrap_or_default())?;
    let curve = Curve::named("bn254_g1")?;
    let (points, _) = curve.random_points(1000, 1)?; // and by which scalars of the generator
    let scalars = curve.scalar_field().random(1000, 2)?;
    // A device with 64 MiB that no other lease has; waits until there is one.
    let lease = pool.acquire(&Request::bytes(64 << 20))?;
    let sum = msm(&curve, &points, &scalars, Exec::under(&lease))?;

    // The same on the host, one point after another.
    let mut expected = vec![0; curve.point_bytes()];
    for (point, scalar) in points.chunks(64).zip(scalars.chunks(32)) {
        expected = curve.add(&expected, &curve.multiply(point, scalar)?)?;
    }
    if sum != expected {
        return Err("the result is wrong".into());
    }

    // A transform, and the inverse one, which restores the elements.
    let domain = Domain::create(&pool, &curve.scalar_field(), 10)?;
    let elements = curve.scalar_field().random(1024, 3)?;
    let mut transformed = elements.clone();
    ntt_in_place(&domain, Transform::default(), &mut transformed, Exec::under(&lease))?;
    let inverse = Transform { is_inverse: true, ..Default::default() };
    ntt_in_place(&domain, inverse, &mut transformed, Exec::under(&lease))?;
    if transformed != elements {
        return Err("the inverse transform does not restore the elements".into());
    }

    // A call that is refused says why.
    let mut short = elements[..1000 * curve.scalar_field().element_bytes()].to_vec();
    if let Err(error) = ntt_in_place(&domain, Transform::default(), &mut short, Exec::under(&lease)) {
        println!("refused: {}", error);
    }
    let digits: String = sum[..32].iter().rev().map(|byte| format!("{:02x}", byte)).collect();
    println!("checked: {}", digits);
    Ok(())
}
