package holdfast_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/store/memstore"
)

// The benchmarks run over a store that costs next to nothing, so that what they
// measure is the core.

func benchClient(b *testing.B, s *memstore.Server) *holdfast.Client {
	b.Helper()
	c, err := memstore.New(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return c
}

func lockUnlock(b *testing.B, m *holdfast.Mutex) {
	l, err := m.Lock(context.Background())
	if err != nil {
		b.Error(err)
		return
	}
	if err := l.Unlock(); err != nil {
		b.Error(err)
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	m := benchClient(b, memstore.NewServer()).Mutex("k", nil)
	b.ReportAllocs()
	for b.Loop() {
		lockUnlock(b, m)
	}
}

func BenchmarkTryLockUnlock(b *testing.B) {
	m := benchClient(b, memstore.NewServer()).Mutex("k", nil)
	b.ReportAllocs()
	for b.Loop() {
		l, err := m.TryLock(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		l.Unlock()
	}
}

func BenchmarkDo(b *testing.B) {
	m := benchClient(b, memstore.NewServer()).Mutex("k", nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Do(b.Context(), nothing); err != nil {
			b.Fatal(err)
		}
	}
}

// Many goroutines want one name, within one client and spread over several.
func BenchmarkContended(b *testing.B) {
	const goroutines = 64
	for _, clients := range []int{1, 4} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s := memstore.NewServer()
			work := make(chan struct{})
			var workers sync.WaitGroup
			for range clients {
				m := benchClient(b, s).Mutex("k", nil)
				for range goroutines / clients {
					workers.Go(func() {
						for range work {
							lockUnlock(b, m)
						}
					})
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			workers.Wait()
		})
	}
}

// A check is what a holder does most often.
func BenchmarkCheck(b *testing.B) {
	l, err := benchClient(b, memstore.NewServer()).Mutex("k", nil).Lock(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Unlock()
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
