package holdfast_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/driver/drivertest"
	"github.com/holdfast-go/holdfast/store/memstore"
)

const years = 365 * 24 * time.Hour

// Each bad option is one error that names the value, the rule and the remedy, and
// nothing is sent.
func TestMutexOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    holdfast.MutexOptions
		text []string // of the error; none: the options are good
	}{
		{"all defaults", holdfast.MutexOptions{}, nil},
		{"shortest TTL", holdfast.MutexOptions{TTL: time.Millisecond}, nil},
		{"longest TTL", holdfast.MutexOptions{TTL: 10 * years}, nil},
		{"longest AtLeast", holdfast.MutexOptions{AtLeast: 10 * years}, nil},
		{"largest Margin", holdfast.MutexOptions{TTL: 10 * time.Second, Margin: 4898 * time.Millisecond}, nil},
		{"Margin beside AtLeast", holdfast.MutexOptions{TTL: time.Second, AtLeast: time.Minute, Margin: 10 * time.Second}, nil},
		{"no limits", holdfast.MutexOptions{MaxHold: math.MaxInt64, Wait: math.MaxInt64, Patience: math.MaxInt64, MaxWaiters: math.MaxInt}, nil},
		{"tiny limits", holdfast.MutexOptions{MaxHold: time.Hour, AtLeast: 1, Margin: 1, Wait: 1}, nil},
		{"patience for ever", holdfast.MutexOptions{Patience: -1}, nil},

		{"negative TTL", holdfast.MutexOptions{TTL: -1}, []string{"TTL -1ns", "negative", "default"}},
		{"negative MaxHold", holdfast.MutexOptions{MaxHold: -time.Second}, []string{"MaxHold -1s", "negative", "default"}},
		{"negative AtLeast", holdfast.MutexOptions{AtLeast: -time.Second}, []string{"AtLeast -1s", "negative", "default"}},
		{"negative Margin", holdfast.MutexOptions{Margin: -time.Second}, []string{"Margin -1s", "negative", "default"}},
		{"negative Wait", holdfast.MutexOptions{Wait: -time.Second}, []string{"Wait -1s", "negative", "default"}},
		{"negative Patience", holdfast.MutexOptions{Patience: -2}, []string{"Patience -2ns", "negative", "-1"}},
		{"negative MaxWaiters", holdfast.MutexOptions{MaxWaiters: -1}, []string{"MaxWaiters -1", "negative", "0"}},
		{"short TTL", holdfast.MutexOptions{TTL: time.Millisecond - 1}, []string{"TTL 999.999µs", "too short", "memory", "at least 1ms"}},
		{"short TTL beside AtLeast", holdfast.MutexOptions{TTL: 1, AtLeast: time.Minute}, []string{"TTL 1ns", "too short"}},
		{"long TTL", holdfast.MutexOptions{TTL: 10*years + 1}, []string{"87600h0m0.000000001s", "too long", "memory", "at most 87600h"}},
		{"endless TTL", holdfast.MutexOptions{TTL: math.MaxInt64}, []string{"TTL", "too long"}},
		{"endless AtLeast", holdfast.MutexOptions{AtLeast: math.MaxInt64}, []string{"AtLeast", "too long"}},
		{"large Margin", holdfast.MutexOptions{TTL: 10 * time.Second, Margin: 4898*time.Millisecond + 1}, []string{"Margin 4.898000001s", "half of the TTL 10s", "102ms", "lower the Margin"}},
		{"endless Margin", holdfast.MutexOptions{Margin: math.MaxInt64}, []string{"Margin", "half of the TTL", "lower"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				a := w.open(nil)
				l, err := a.Mutex("k", &c.o).Lock(w.Context())
				if len(c.text) == 0 {
					if err != nil {
						t.Fatal(err)
					}
					w.is(l.Check(), nil)
					w.unlock(l)
					return
				}
				w.is(err, holdfast.ErrInvalid)
				for _, part := range append(c.text, `"k"`) {
					if err != nil && !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
				_, err = a.Mutex("k", &c.o).TryLock(w.Context())
				w.is(err, holdfast.ErrInvalid)
				if calls := a.net.Calls(); len(calls) > 0 {
					t.Errorf("sent %v", calls)
				}
			})
		})
	}
}

func TestClientOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    *holdfast.Options
		text []string
	}{
		{"nil", nil, nil},
		{"all defaults", &holdfast.Options{}, nil},
		{"largest", &holdfast.Options{Timeout: math.MaxInt64, Drift: 0.25}, nil},
		{"negative Timeout", &holdfast.Options{Timeout: -time.Second}, []string{"Timeout -1s", "negative", "3s"}},
		{"negative Drift", &holdfast.Options{Drift: -0.01}, []string{"Drift -0.01", "range", "0.25"}},
		{"large Drift", &holdfast.Options{Drift: 0.26}, []string{"Drift 0.26", "range"}},
		{"Drift that is no number", &holdfast.Options{Drift: math.NaN()}, []string{"Drift NaN", "range"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := holdfast.New(memstore.NewServer().Store(), c.o)
			if len(c.text) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Close(t.Context()); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, holdfast.ErrInvalid) {
				t.Errorf("New: %v", err)
			}
			for _, part := range c.text {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// A store's own limits apply as well.
func TestStoreLimits(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.openOn(withProfile{w.srv.Store(), func(p *driver.Profile) {
			p.MinTTL, p.MaxTTL, p.MaxName = time.Second, time.Minute, 10
		}}, nil)
		for _, o := range []holdfast.MutexOptions{{TTL: time.Second - 1}, {TTL: time.Minute + 1}, {AtLeast: time.Hour}} {
			_, err := a.Mutex("k", &o).Lock(w.Context())
			w.is(err, holdfast.ErrInvalid)
		}
		_, err := a.Mutex("12345678901", nil).Lock(w.Context())
		w.is(err, holdfast.ErrInvalid)
		l := w.lock(a, "1234567890", &holdfast.MutexOptions{TTL: time.Minute})
		w.is(l.Extend(w.Context(), time.Minute), holdfast.ErrInvalid)
		w.unlock(l)
	})
}

// The mutex keeps a copy of its options.
func TestOptionsAreCopied(t *testing.T) {
	inBubble(t, func(w *world) {
		a := w.open(nil)
		o := &holdfast.MutexOptions{TTL: ttl}
		m := a.Mutex("k", o)
		o.TTL = -1
		l, err := m.Lock(w.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.unlock(l)
	})
}

// A request takes no longer than the client's Timeout or a third of the TTL.
func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		timeout, ttl, want time.Duration
	}{
		{0, 0, 3 * time.Second},
		{0, 6 * time.Second, 2 * time.Second},
		{time.Second, 0, time.Second},
		{time.Hour, 30 * time.Second, 10 * time.Second},
		{time.Nanosecond, 0, time.Nanosecond},
	} {
		inBubble(t, func(w *world) {
			a := w.open(&holdfast.Options{Timeout: c.timeout})
			a.net.Partition(nil)
			start := time.Now()
			_, err := a.Mutex("k", &holdfast.MutexOptions{TTL: c.ttl}).TryLock(w.Context())
			w.is(err, holdfast.ErrUnavailable)
			if took := time.Since(start); took != c.want {
				t.Errorf("Timeout %v, TTL %v: a request took %v, want %v", c.timeout, c.ttl, took, c.want)
			}
			if got := a.calls(drivertest.Try)[0].Request.NotAfter.Sub(start); got != c.want {
				t.Errorf("NotAfter %v after sending, want %v", got, c.want)
			}
		})
	}
}
