// SPDX-License-Identifier: Apache-2.0

// A multi-scalar multiplication on the next device, checked: msm [DEVICES]
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
	where := devicepool.On(must(pool.Next()))
	sum := must(curve.MSM(context.Background(), devicepool.Slice(points), devicepool.Slice(scalars), where))

	// The same on the host, one point after another.
	expected := make([]byte, 64)
	for i := 0; i < 1000; i++ {
		product := must(curve.Multiply(points[64*i:64*i+64], scalars[32*i:32*i+32]))
		expected = must(curve.Add(expected, product))
	}
	if !bytes.Equal(sum, expected) {
		log.Fatal("the result is wrong")
	}
	fmt.Print("checked: ")
	for i := 31; i >= 0; i-- {
		fmt.Printf("%02x", sum[i])
	}
	fmt.Println()
}
