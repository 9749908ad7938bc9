// SPDX-License-Identifier: Apache-2.0
//! A multi-scalar multiplication on the next device, checked: msm [DEVICES]
use devicepool::{msm, Curve, Exec, Pool};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Pool::open(&std::env::args().nth(1).unwrap_or_default())?;
    let curve = Curve::named("bn254_g1")?;
    let (points, _) = curve.random_points(1000, 1)?; // and by which scalars of the generator
    let scalars = curve.scalar_field().random(1000, 2)?;
    let sum = msm(&curve, &points, &scalars, Exec::on(&pool.next()?))?;

    // The same on the host, one point after another.
    let mut expected = vec![0; curve.point_bytes()];
    for (point, scalar) in points.chunks(64).zip(scalars.chunks(32)) {
        expected = curve.add(&expected, &curve.multiply(point, scalar)?)?;
    }
    if sum != expected {
        return Err("the result is wrong".into());
    }
    let digits: String = sum[..32].iter().rev().map(|byte| format!("{:02x}", byte)).collect();
    println!("checked: {}", digits);
    Ok(())
}
