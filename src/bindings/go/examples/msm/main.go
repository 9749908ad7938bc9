// SPDX-License-Identifier: Apache-2.0

// A multi-scalar multiplication and a transform under a lease, checked: msm [DEVICES]
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"devicepool"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	devices := ""
	if len(os.Args) > 1 {
		devices = os.Args[1]
	}
	pool := must(devicepool.Open(devices))
	defer pool.Close()
	curve := must(devicepool.NamedCurve("bn254_g1"))
	points, _, err := curve.RandomPoints(1000, 1) // and by which scalars of the generator
	scalars := must(curve.ScalarField().Random(1000, 2))
	if err != nil {
		log.Fatal(err)
	}
	// A device with 64 MiB that no other lease has; waits until there is one.
	ctx := context.Background()
	lease := must(pool.Acquire(ctx, devicepool.Request{Bytes: 64 << 20}))
	defer lease.Close()
	where := devicepool.Under(lease)
	sum := must(curve.MSM(ctx, devicepool.Slice(points), devicepool.Slice(scalars), where))

	// The same on the host, one point after another.
	expected := make([]byte, 64)
	for i := 0; i < 1000; i++ {
		product := must(curve.Multiply(points[64*i:64*i+64], scalars[32*i:32*i+32]))
		expected = must(curve.Add(expected, product))
	}
	if !bytes.Equal(sum, expected) {
		log.Fatal("the result is wrong")
	}

	// A transform, and the inverse one, which restores the elements.
	domain := must(curve.ScalarField().NewDomain(10))
	defer domain.Close()
	elements := must(curve.ScalarField().Random(1024, 3))
	transformed := make([]byte, len(elements))
	in, out := devicepool.Slice(elements), devicepool.Slice(transformed)
	err = domain.Transform(ctx, devicepool.Transform{}, in, out, where)
	if err == nil {
		err = domain.Transform(ctx, devicepool.Transform{Inverse: true}, out, out, where)
	}
	if err != nil || !bytes.Equal(transformed, elements) {
		log.Fatal("the inverse transform does not restore the elements: ", err)
	}

	// A call that is refused says why.
	short := devicepool.Slice(elements[:32*1000])
	fmt.Println("refused:", domain.Transform(ctx, devicepool.Transform{}, short, short, where))

	fmt.Print("checked: ")
	for i := 31; i >= 0; i-- {
		fmt.Printf("%02x", sum[i])
	}
	fmt.Println()
}
