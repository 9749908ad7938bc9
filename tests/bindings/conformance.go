// SPDX-License-Identifier: Apache-2.0

// The rows of rows.txt by package devicepool of Go.
// usage: conformance rows.txt
package main

// #include <stdlib.h>
import "C"

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	dp "devicepool"
	"devicepool/raw"
)

var (
	named  = map[string][]byte{}
	shared *dp.Pool
	device dp.Device
	ctx    = context.Background()
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return value
}

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

func content(word string) []byte {
	if strings.HasPrefix(word, "@") {
		return named[word[1:]]
	}
	return must(hex.DecodeString(word))
}

func number(word string) uint64 { return must(strconv.ParseUint(word, 10, 64)) }

func shown(answer []byte) string {
	if len(answer) <= 64 {
		return hex.EncodeToString(answer)
	}
	hash := uint64(0xcbf29ce484222325)
	for _, value := range answer {
		hash = (hash ^ uint64(value)) * 0x100000001b3
	}
	return fmt.Sprintf("fnv:%016x", hash)
}

func elements(field *dp.Field, word string) []byte {
	start, count, _ := strings.Cut(word, ":")
	size := field.ElementBytes()
	made := make([]byte, int(number(count))*size)
	for i := uint64(0); i < number(count); i++ {
		var value [8]byte
		binary.LittleEndian.PutUint64(value[:], number(start)+i)
		copy(made[int(i)*size:int(i+1)*size], value[:])
	}
	return made
}

func nameOf(err error) string {
	var failed *dp.Error
	if errors.As(err, &failed) {
		return failed.Name()
	}
	return fmt.Sprint(err)
}

func failure(err error, withCode bool) string {
	var failed *dp.Error
	if !errors.As(err, &failed) {
		return fmt.Sprint(err)
	}
	text := failed.Name() + " " + failed.Harms()
	if withCode {
		text += fmt.Sprint(" ", failed.Code)
	}
	return text
}

func errorOf[T any](_ T, err error) error { return err }

// in opens a pool for an answer.
func in(devices string, slots int, answer func(pool *dp.Pool) string) string {
	pool := must(dp.Open(devices, dp.Options{Slots: slots}))
	text := answer(pool)
	check(pool.Close())
	return text
}

func index(device dp.Device, err error) string { return fmt.Sprint(must(device, err).Index()) }

func all(pool *dp.Pool) *dp.Lease { return must(pool.Acquire(ctx, dp.Request{Devices: pool.Len()})) }

func faults(rules string) {
	if rules == "" {
		raw.FnSimSetFaults(nil)
		return
	}
	text := C.CString(rules)
	defer C.free(unsafe.Pointer(text))
	if raw.FnSimSetFaults(unsafe.Pointer(text)) != raw.Ok {
		log.Panic("fault rules")
	}
}

func fieldAnswer(field *dp.Field) string {
	defer field.Close()
	return fmt.Sprint(field.ElementBytes(), " ", shown(must(field.Modulus())))
}

// soon ends with a context that has been cancelled.
func cancelled() context.Context {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return ended
}

var operations = map[string]func(a []string) string{
	"version": func(a []string) string {
		return C.GoString((*C.char)(raw.FnVersionText()))
	},
	"devices": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string { return fmt.Sprint(pool.Len()) })
	},
	"next": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			var indices []string
			for i := uint64(0); i < number(a[1]); i++ {
				indices = append(indices, index(pool.Next()))
			}
			return strings.Join(indices, " ")
		})
	},
	"best": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string { return index(pool.Best()) })
	},
	"pick_filter": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			return index(pool.Pick(raw.PolicyMostFree, 0, func(candidate dp.Candidate) bool {
				return uint64(candidate.Device.Index()) == number(a[1])
			}))
		})
	},
	"pick_score": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			return index(pool.PickByScore(func(candidate dp.Candidate) float64 { return float64(candidate.Device.Index()) }))
		})
	},
	"by_uuid": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string { return index(pool.ByUUID(must(pool.At(int(number(a[1])))).UUID())) })
	},
	"total": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string { return fmt.Sprint(must(must(pool.At(0)).Info()).TotalBytes) })
	},
	"health": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			health := must(pool.Health())
			harmed := C.GoString((*C.char)(raw.FnErrorClassName(health.Harmed)))
			return fmt.Sprint(harmed, " ", health.Devices, " ", health.UsableDevices)
		})
	},
	"create_error": func(a []string) string { return failure(errorOf(dp.Open(a[0])), false) },
	"bound": func(a []string) string {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return in(a[0], 0, func(pool *dp.Pool) string {
			for _, word := range a[1:] {
				check(must(pool.At(int(number(word)))).Bind())
			}
			bound := index(pool.Bound())
			for i := len(a) - 1; i > 0; i-- {
				check(must(pool.At(int(number(a[i])))).Unbind())
			}
			return bound
		})
	},
	"not_bound": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string { return nameOf(errorOf(pool.Bound())) })
	},
	"copy": func(a []string) string {
		buffer := must(dp.Upload(device, content(a[0])))
		defer buffer.Close()
		return shown(must(buffer.Content()))
	},
	"slice": func(a []string) string {
		buffer := must(dp.Upload(device, content(a[0])))
		defer buffer.Close()
		part := must(buffer.Slice(number(a[1]), number(a[2])))
		defer part.Close()
		return shown(must(part.Content()))
	},
	"fill": func(a []string) string {
		buffer := must(device.Alloc(number(a[0]), raw.BufferZeroed, nil))
		defer buffer.Close()
		check(buffer.Fill(byte(number(a[1])), number(a[2]), number(a[3])))
		return shown(must(buffer.Content()))
	},
	"copy_error": func(a []string) string {
		buffer := must(device.Alloc(number(a[1]), 0, nil))
		defer buffer.Close()
		return nameOf(buffer.Write(number(a[2]), dp.Slice(content(a[0]))))
	},
	"pinned": func(a []string) string {
		from := content(a[0])
		pinned := must(device.Pinned(uint64(len(from))))
		defer pinned.Close()
		copy(pinned.Memory(), from)
		buffer := must(dp.Upload(device, pinned.Memory()))
		defer buffer.Close()
		return shown(must(buffer.Content()))
	},
	"stream": func(a []string) string {
		stream := must(device.Stream())
		defer stream.Close()
		check(stream.Synchronize())
		if must(stream.Idle()) {
			return "idle"
		}
		return "busy"
	},
	"launch": func(a []string) string {
		module := must(device.Load(content(a[0])))
		defer module.Close()
		numbers := make([]uint32, number(a[2]))
		for i := range numbers {
			numbers[i] = uint32(i)
		}
		buffer := must(dp.Upload(device, numbers))
		defer buffer.Close()
		kernel := must(module.Kernel(a[1]))
		check(kernel.Launch(number(a[2]), nil, buffer, uint32(number(a[3])), uint32(number(a[2]))))
		return shown(must(buffer.Content()))
	},
	"launch_error": func(a []string) string {
		module := must(device.Load(content(a[0])))
		defer module.Close()
		buffer := must(device.Alloc(4, 0, nil))
		defer buffer.Close()
		return nameOf(must(module.Kernel(a[1])).Launch(1, nil, buffer))
	},
	"kernel_error": func(a []string) string {
		module := must(device.Load(content(a[0])))
		defer module.Close()
		return nameOf(errorOf(module.Kernel(a[1])))
	},
	"image_error":   func(a []string) string { return nameOf(errorOf(device.Load(content(a[0])))) },
	"field":         func(a []string) string { return fieldAnswer(must(dp.NamedField(a[0]))) },
	"field_custom":  func(a []string) string { return fieldAnswer(must(dp.NewField(a[0]))) },
	"field_error":   func(a []string) string { return nameOf(errorOf(dp.NewField(a[0]))) },
	"field_unknown": func(a []string) string { return nameOf(errorOf(dp.NamedField(a[0]))) },
	"root": func(a []string) string {
		return shown(must(must(dp.NamedField(a[0])).RootOfUnity(int(number(a[1])))))
	},
	"montgomery": func(a []string) string {
		field := must(dp.NamedField(a[0]))
		return shown(must(field.ToMontgomery(elements(field, a[1]))))
	},
	"vector": func(a []string) string {
		field, where := must(dp.NamedField(a[1])), dp.On(device)
		last := elements(field, a[len(a)-1])
		result := make([]byte, len(last))
		b, out := dp.Slice(last), dp.Slice(result)
		switch a[0] {
		case "add":
			check(field.VectorAdd(ctx, dp.Slice(elements(field, a[2])), b, out, where))
		case "sub":
			check(field.VectorSub(ctx, dp.Slice(elements(field, a[2])), b, out, where))
		case "mul":
			check(field.VectorMul(ctx, dp.Slice(elements(field, a[2])), b, out, where))
		case "scale":
			check(field.VectorScale(ctx, elements(field, a[2]+":1"), b, out, where))
		case "inverse":
			check(field.VectorInverse(ctx, b, out, where))
		case "bit_reverse":
			check(field.VectorBitReverse(ctx, b, out, where))
		}
		return shown(result)
	},
	"ntt": func(a []string) string {
		orders := map[string]raw.NttOrder{"nn": raw.NttNn, "nr": raw.NttNr, "rn": raw.NttRn, "rr": raw.NttRr}
		field := must(dp.NamedField(a[0]))
		domain := must(field.NewDomain(int(number(a[1]))))
		defer domain.Close()
		items := elements(field, a[7])
		which := dp.Transform{Inverse: a[2] == "inverse", Coset: a[3] == "1", Order: orders[a[4]], Columns: a[5] == "columns",
			Batch: int(number(a[6]))}
		check(domain.Transform(ctx, which, dp.Slice(items), dp.Slice(items), dp.On(device)))
		return shown(items)
	},
	"ntt_error": func(a []string) string {
		field := must(dp.NamedField(a[0]))
		domain := must(field.NewDomain(int(number(a[1]))))
		defer domain.Close()
		items := dp.Slice(elements(field, a[2]))
		return nameOf(domain.Transform(ctx, dp.Transform{}, items, items, dp.On(device)))
	},
	"progress": func(a []string) string {
		field := must(dp.NamedField(a[0]))
		domain := must(field.NewDomain(int(number(a[1]))))
		defer domain.Close()
		items := dp.Slice(must(field.Random(int(number(a[2])<<number(a[1])), 1)))
		last := ""
		where := dp.On(device)
		where.Progress = func(done, total uint64) { last = fmt.Sprint(done, " ", total) }
		check(domain.Transform(ctx, dp.Transform{Batch: int(number(a[2]))}, items, items, where))
		return last
	},
	"hash": func(a []string) string {
		set := must(dp.NamedPoseidon(a[0]))
		defer set.Close()
		return shown(must(set.Hash(ctx, dp.Slice(elements(set.Field(), a[2])), int(number(a[1])), dp.On(device))))
	},
	"permute": func(a []string) string {
		set := must(dp.NamedPoseidon(a[0]))
		defer set.Close()
		return shown(must(set.Permute(ctx, dp.Slice(content(a[1])), dp.On(device))))
	},
	"merkle": func(a []string) string {
		set := must(dp.NamedPoseidon(a[0]))
		defer set.Close()
		levels := must(set.Merkle(ctx, dp.Slice(elements(set.Field(), a[2])), int(number(a[1])), dp.On(device)))
		return shown(levels[len(levels)-set.DigestBytes():])
	},
	"hash_unknown": func(a []string) string { return nameOf(errorOf(dp.NamedPoseidon(a[0]))) },
	"msm": func(a []string) string {
		curve := must(dp.NamedCurve(a[0]))
		sums := make([]byte, int(number(a[3]))*curve.PointBytes())
		check(curve.MSMs(ctx, dp.Slice(content(a[1])), dp.Slice(content(a[2])), dp.Slice(sums), int(number(a[3])),
			a[4] == "1", dp.On(device)))
		return shown(sums)
	},
	"msm_bases": func(a []string) string {
		factor := uint32(raw.PrecomputeAll)
		if a[3] != "all" {
			factor = uint32(number(a[3]))
		}
		bases := must(must(dp.NamedCurve(a[0])).NewBases(ctx, dp.Slice(content(a[1])), factor, dp.On(device)))
		defer bases.Close()
		return shown(must(bases.MSM(ctx, dp.Slice(content(a[2])), dp.Where{})))
	},
	"msm_device": func(a []string) string {
		curve := must(dp.NamedCurve(a[0]))
		points, scalars := must(dp.Upload(device, content(a[1]))), must(dp.Upload(device, content(a[2])))
		sum := must(device.Alloc(uint64(curve.PointBytes()), 0, nil))
		defer points.Close()
		defer scalars.Close()
		defer sum.Close()
		check(curve.MSMs(ctx, points.Array(), scalars.Array(), sum.Array(), 1, false, dp.On(device)))
		return shown(must(sum.Content()))
	},
	"msm_async": func(a []string) string {
		// Goroutines; the contexts of some of them are cancelled behind the calls.
		answers := make(chan []byte)
		for i := 0; i < 4; i++ {
			go func(isTimed bool) {
				limited, cancel := ctx, context.CancelFunc(func() {})
				if isTimed {
					limited, cancel = context.WithTimeout(ctx, time.Minute)
				}
				sum := must(must(dp.NamedCurve(a[0])).MSM(limited, dp.Slice(content(a[1])), dp.Slice(content(a[2])), dp.On(device)))
				cancel()
				answers <- sum
			}(i%2 == 0)
		}
		sum := <-answers
		for i := 0; i < 3; i++ {
			if !bytes.Equal(<-answers, sum) {
				return "they differ"
			}
		}
		return shown(sum)
	},
	"msm_lease": func(a []string) string {
		lease := must(shared.Acquire(ctx, dp.Request{Bytes: number(a[3])}))
		defer lease.Close()
		return shown(must(must(dp.NamedCurve(a[0])).MSM(ctx, dp.Slice(content(a[1])), dp.Slice(content(a[2])), dp.Under(lease))))
	},
	"msm_error": func(a []string) string {
		where := dp.On(device)
		where.Checks = map[string]raw.CheckFlag{"canonical": raw.CheckCanonical, "on_curve": raw.CheckOnCurve}[a[3]]
		return nameOf(errorOf(must(dp.NamedCurve(a[0])).MSM(ctx, dp.Slice(content(a[1])), dp.Slice(content(a[2])), where)))
	},
	"cancelled": func(a []string) string {
		_, err := must(dp.NamedCurve(a[0])).MSM(cancelled(), dp.Slice(content(a[1])), dp.Slice(content(a[2])), dp.On(device))
		if !errors.Is(err, context.Canceled) || !errors.Is(err, dp.Status(raw.ErrCancelled)) {
			return "another error"
		}
		return nameOf(err)
	},
	"encode": func(a []string) string {
		return shown(must(must(dp.NamedCurve(a[0])).Encode(content(a[1]), raw.EncodingZcashCompressed)))
	},
	"decode_error": func(a []string) string {
		return nameOf(errorOf(must(dp.NamedCurve(a[0])).Decode(content(a[1]), raw.EncodingZcashCompressed)))
	},
	"point_add": func(a []string) string {
		return shown(must(must(dp.NamedCurve(a[0])).Add(content(a[1]), content(a[2]))))
	},
	"point_multiply": func(a []string) string {
		var scalar [8]byte
		binary.LittleEndian.PutUint64(scalar[:], number(a[2]))
		return shown(must(must(dp.NamedCurve(a[0])).Multiply(content(a[1]), scalar[:])))
	},
	"lease": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			lease := must(pool.Acquire(ctx, dp.Request{Bytes: number(a[1]), Devices: int(number(a[2]))}))
			defer lease.Close()
			return fmt.Sprint(must(lease.Info()).Bytes, " ", lease.Len())
		})
	},
	"lease_used": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			lease := must(pool.Acquire(ctx, dp.Request{Bytes: number(a[1])}))
			defer lease.Close()
			buffer := must(must(lease.Device(0)).Alloc(number(a[2]), 0, lease))
			defer buffer.Close()
			return fmt.Sprint(must(lease.Usage(0)).UsedBytes)
		})
	},
	"lease_exceeded": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			lease := must(pool.Acquire(ctx, dp.Request{Bytes: number(a[1])}))
			defer lease.Close()
			return nameOf(errorOf(must(lease.Device(0)).Alloc(number(a[2]), 0, lease)))
		})
	},
	"lease_slots": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			return nameOf(errorOf(pool.Acquire(ctx, dp.Request{Slots: int(number(a[1]))})))
		})
	},
	"lease_timeout": func(a []string) string {
		return in(a[0], 1, func(pool *dp.Pool) string {
			lease := all(pool)
			defer lease.Close()
			request := raw.NewRequest()
			request.TimeoutNs = 1000000
			var made unsafe.Pointer
			return C.GoString((*C.char)(raw.FnStatusName(raw.FnAcquire(pool.Raw(), &request, &made))))
		})
	},
	"ticket": func(a []string) string {
		return in(a[0], 1, func(pool *dp.Pool) string {
			lease := all(pool)
			granted := make(chan *dp.Lease)
			go func() { granted <- must(pool.Acquire(ctx, dp.Request{Bytes: number(a[1])})) }()
			select {
			case <-granted:
				return "too early"
			case <-time.After(10 * time.Millisecond):
			}
			check(lease.Close())
			lease = <-granted
			defer lease.Close()
			return fmt.Sprint(must(lease.Info()).Bytes)
		})
	},
	"ticket_cancelled": func(a []string) string {
		return in(a[0], 1, func(pool *dp.Pool) string {
			lease := all(pool)
			defer lease.Close()
			limited, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			_, err := pool.Acquire(limited, dp.Request{})
			if !errors.Is(err, context.DeadlineExceeded) {
				return "another error"
			}
			return nameOf(err)
		})
	},
	"fault": func(a []string) string {
		faults(a[0])
		_, err := device.Alloc(1<<20, 0, nil)
		faults("")
		return failure(err, true)
	},
	"worker": func(a []string) string {
		return in(a[0], 0, func(pool *dp.Pool) string {
			for i := 0; i < 1000; i++ {
				buffer, err := dp.Upload(must(pool.At(0)), []byte("worker"))
				if err != nil {
					return failure(err, false)
				}
				read, err := buffer.Content()
				buffer.Close()
				if err != nil {
					return failure(err, false)
				}
				if string(read) != "worker" {
					return "other bytes"
				}
			}
			return "no failure"
		})
	},
	"poisoned": func(a []string) string {
		module, buffer := must(device.Load(content(a[0]))), must(device.Alloc(4, 0, nil))
		kernel := must(module.Kernel(a[1]))
		faults(a[2])
		err := kernel.Launch(1, nil, buffer, uint32(1), uint32(1))
		if err == nil {
			err = device.Synchronize()
		}
		return failure(err, true)
	},
}

func main() {
	shared = must(dp.Open("sim:3"))
	device = must(shared.At(0))
	for _, line := range strings.Split(string(must(os.ReadFile(os.Args[1]))), "\n") {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "data" {
			named[words[1]] = content(words[2])
		}
		if len(words) > 2 && words[0] == "row" {
			end := 3
			for words[end] != "=" {
				end++
			}
			fmt.Println(words[1], operations[words[2]](words[3:end]))
		}
	}
}
