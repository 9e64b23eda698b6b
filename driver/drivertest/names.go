package drivertest

import (
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

var names = promise{"names", []rule{
	{"distinct", "names that differ in any byte are different locks", namesDistinct},
	{"whole", "names are compared to their last byte, whatever their length", namesWhole},
}}

// odd are legal names that a store might confuse with another, or with
// something of its own.
var odd = []string{
	"a", "A", "a ", " a", "a/", "/a", "a//b", "a/b", "a.b", "a/./b", "a/../b", "..", ".", "~",
	"a:b", "a::b", "a;b", "a,b", "a=b", "a&b", "a?b", "a#b", "a%b", "a%25b", "a%2Fb", "a+b",
	"a*", "a?", "a[b]", "a_b", "a-b", "a\\b", "a'b", "a\"b", "a`b", "a--b", "a';--", "$a", "${a}", "a|b", "<a>", "(a)",
	"{a}", "{a}b", "b{a}", "{a}b}", "{a}{b}", "{{a}", "null", "nil", "0", "00", "1", "1.0", "1e0", "true",
	"é", "e\u0301", "ß", "ss", "ı", "i", "I", "İ", "日本", "日本語", "🔒", "\u200b", "a\u200b", "\u00a0", "a\u00a0", "\ufeffa", "\u202ea",
}

func namesDistinct(e *env) {
	other := e.client()
	var gs []*grant
	for _, name := range odd {
		if err := driver.CheckName(name); err != nil {
			e.Fatalf("the suite uses an illegal name: %v", err)
		}
		g, b := e.first.try(e.first.request(name, e.long))
		if b != nil {
			e.fatal("%q is said to be held by %q, which holds only %q", name, b.Owner, odd[:len(gs)])
		}
		gs = append(gs, g)
	}
	for i, name := range odd {
		other.heldBy(name, gs[i].Hold.Owner)
	}
	for _, g := range gs {
		e.first.end(g.Hold)
		other.free(g.Hold.Name)
	}
}

func namesWhole(e *env) {
	other := e.client()
	limit := driver.MaxNameBytes
	if e.profile.MaxName > 0 {
		limit = e.profile.MaxName
	}
	for n := 1; n <= limit; n = max(n+1, min(2*n, limit)) {
		stem := strings.Repeat("x", n-1)
		x := e.first.take(stem+"0", e.long)
		y := other.take(stem+"1", e.long)
		other.heldBy(x.Hold.Name, x.Hold.Owner)
		e.first.heldBy(y.Hold.Name, y.Hold.Owner)
		e.first.end(x.Hold)
		other.heldBy(y.Hold.Name, y.Hold.Owner)
		other.end(y.Hold)
	}
}
