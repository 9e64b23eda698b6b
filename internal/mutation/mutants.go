package main

// mutant is a mistake that somebody could make in the core. Its edits are exact
// pieces of the code, so that a mutant which no longer fits is noticed.
type mutant struct {
	name  string // the rule that it breaks
	edits []edit
}

type edit struct{ file, old, new string }

var mutants = []mutant{
	{"the deadline counts from the reply", []edit{
		{"validity.go", "sent := c.at(v.Sent, slept)", "sent := c.now()"},
	}},
	{"the margin is dropped", []edit{
		{"validity.go", "return min(t.driftOf(ttl)+t.stop, ttl/2)", "return 0"},
	}},
	{"drift is not allowed for", []edit{
		{"validity.go", "return min(t.driftOf(ttl)+t.stop, ttl/2)", "return min(t.stop, ttl/2)"},
	}},
	{"suspend is not counted", []edit{
		{"clock.go", "return t.Add(slept)", "return t"},
	}},
	{"Extend does not ask the store", []edit{
		{"extend.go", "if h.cause != nil || !h.span.deadline.Before(now.Add(d)) {", "if true {"},
	}},
	{"a failed renewal is not tried again before the next is due", []edit{
		{"renewer.go", "h.renewal.retryAt = h.c.clock.now().Add(pause)", "h.renewal.retryAt = h.c.clock.now().Add(pause + h.terms.ttl)"},
	}},
	{"a hold that the store lost goes on", []edit{
		{"renewer.go", "case errors.Is(err, driver.ErrGone), errors.Is(err, driver.ErrKind)", "case errors.Is(err, driver.ErrKind)"},
	}},
	{"a revocation is not told from other failures", []edit{
		{"renewer.go", "case errors.Is(err, driver.ErrRevoked):", "case false:"},
	}},
	{"renewal goes on after unlock", []edit{
		{"renewer.go", "	if h.left {\n		return\n	}\n", ""},
		{"renewer.go", "	if h.cause != nil {\n		at = h.span.deadline\n	}\n", ""},
		{"renewer.go", "case h.cause != nil || h.orphan || h.renewal.inFlight:", "case h.renewal.inFlight:"},
		{"renewer.go", "		if h.cause == nil {\n			d := h.d", "		{\n			d := h.d"},
		{"hold.go", "	h.c.renewer.agenda.drop(&h.entry)\n", "	h.c.renewer.schedule(h)\n"},
	}},
	{"loss releases the lock", []edit{
		{"hold.go", "	h.cause = cause\n	h.renewal.fail(cause)", "	h.cause = cause\n	go h.c.store.Release(h.values, h.d)\n	h.renewal.fail(cause)"},
	}},
	{"Context().Err waits for the timer", []edit{
		{"context.go", "	c.live()\n	return c.Context.Err()", "	return c.Context.Err()"},
		{"context.go", "cause != nil && c.Context.Err() == nil", "false"},
		{"hold.go", "	then := h.endDue(now)\n	cause := h.cause\n", "	var then after\n	cause := h.cause\n	_ = now\n"},
	}},
	{"MaxHold is ignored", []edit{
		{"hold.go", "if h.terms.maxHold > 0 {", "if false {"},
	}},
	{"AtLeast is not kept", []edit{
		{"release.go", "return max(0, h.terms.atLeast-h.age())", "return 0"},
	}},
	{"a grant with no time left is handed out", []edit{
		{"hold.go", "if !h.terms.late(left) {", "if true {"},
	}},
	{"a grant for a caller who left is kept", []edit{
		{"acquire.go", "if !taken.CompareAndSwap(false, true) && h != nil {", "if false {"},
	}},
	{"a grant that crosses a cancellation is kept", []edit{
		{"queue.go", "g.hold.decline()", "_ = 0"},
	}},
	{"an unanswered acquire is not given back", []edit{
		{"acquire.go", "	if a.uncertain.IsZero() {\n		return\n	}\n", "	if true {\n		return\n	}\n"},
	}},
	{"nothing is released after a copy of an acquire may arrive", []edit{
		{"reaper.go", "case err == nil && sent.Before(g.again):", "case false:"},
	}},
	{"an owner acquires again after a give-back", []edit{
		{"acquire.go", "			a.giveUp()\n			a = nil\n", "			a.giveUp()\n"},
		{"acquire.go", "owner: newOwner(c.id)", "owner: c.id + \":1\""},
	}},
	{"Unlock needs a live caller", []edit{
		{"queue.go", "ctx: context.WithoutCancel(ctx), since", "ctx: ctx, since"},
	}},
	{"an unconfirmed release is forgotten", []edit{
		{"release.go", "		h.c.reaper.add(h.giveBack(now, h.lateOutcome))\n", ""},
	}},
	{"a repeated release never doubts", []edit{
		{"release.go", "case err == nil && !o.r.Freed && o.r.Token != h.d.Token:", "case false:"},
	}},
	{"a release that found nothing counts", []edit{
		{"release.go", "case err == nil && !o.r.Freed && !again:", "case false:"},
	}},
	{"contexts enter again by default", []edit{
		{"mutex.go", "if !m.opts.Reentrant {", "if false {"},
	}},
	{"the first of several unlocks releases", []edit{
		{"release.go", "others := len(h.handles) > 0", "others := false"},
	}},
	{"Do keeps a loss to itself", []edit{
		{"do.go", "	if cause == nil {\n		return err\n	}\n", "	if true {\n		return err\n	}\n"},
	}},
	{"Do fails when its release is not confirmed", []edit{
		{"do.go", "case cause == nil && errors.Is(released, ErrLost):", "case cause == nil && released != nil:"},
	}},
	{"waiters are not told of a local release", []edit{
		{"queue.go", "	qs.proceed(q)\n	qs.drop(q)\n	qs.mu.Unlock()\n	if stood", "	qs.drop(q)\n	qs.mu.Unlock()\n	if stood"},
	}},
	{"a client never stands back", []edit{
		{"queue.go", "case now.Sub(q.tenure) >= tenureLimit:", "case false:"},
	}},
	{"a grant goes to whoever waits first", []edit{
		{"queue.go", "		if w.terms != h.terms {\n			continue\n		}\n", ""},
	}},
	{"a silent store is waited for in vain", []edit{
		{"mutex.go", "			cause = ErrUnavailable\n", "			continue\n"},
	}},
	{"Close leaves leases alive", []edit{
		{"close.go", "		h.end(ErrClosed)\n	}\n	c.err", "		_ = h\n	}\n	c.err"},
	}},
	{"a forgotten lease is renewed for ever", []edit{
		{"lease.go", "x.leaked.Store(true)", "x.leaked.Store(false)"},
	}},
	{"a hold has a goroutine of its own", []edit{
		{"client.go", "	c.renewer.schedule(h)\n", "	c.renewer.schedule(h)\n	c.start(func(ctx context.Context) { <-ctx.Done() })\n"},
	}},
	{"each waiter asks the store itself", []edit{
		{"queue.go", "q.held != nil || q.asking {", "q.held != nil {"},
	}},
	{"any name will do", []edit{
		{"options.go", "	if err := driver.CheckName(name); err != nil {", "	if err := driver.CheckName(\"k\"); err != nil {"},
	}},
}
