// Package holdfast is distributed locks: one owner at a time for a name, across
// goroutines, processes, and machines as far as the store reaches.
//
//	locks, err := sqlitestore.Open(ctx, "sqlite:", nil)
//	if err != nil {
//		return err
//	}
//	defer locks.Close(ctx)
//
//	err = locks.Do(ctx, "invoice:42", func(ctx context.Context, lease *holdfast.Lease) error {
//		return charge(ctx, lease.Token()) // ctx ends if the lock is lost
//	})
//
// A [Client] takes locks in one store; a process needs one for each store, and
// keeps it open. Names are UTF-8 of 1 to 1,024 bytes without control characters;
// a "{" needs a later "}" with something between.
//
// # Leases
//
// No distributed lock can be held for ever: a holder that dies must not keep
// everybody else out. The store therefore keeps a lock for a TTL, 30 s unless
// set, and the client renews it every third of that while the [Lease] is held.
// The lock is free
//
//   - at once, when [Lease.Unlock] has been confirmed;
//   - at the end of the TTL, when the holder can no longer renew it: it died, or
//     it cannot reach the store;
//   - earlier than that where the store notices the death of processes, as the
//     sqlite store does.
//
// [Client.Do] and [Mutex.Do] take the lock, run a function and release, and are
// the form to prefer, since the only report of a loss is Unlock's error and a
// deferred Unlock drops it. With [Mutex.Lock] and [Mutex.TryLock] the caller
// holds the lease, and unlocks it once, from any goroutine.
//
// [MutexOptions] change the terms: TTL, NoRenew for a lease that just ends,
// MaxHold for a bound on a job that may hang, AtLeast for a name that stays taken
// although the job was short. [Lease.Extend] makes one lease last longer than
// its renewal would. Nothing ever shortens the life of a lock but its release.
//
// # Losing one
//
// A lease can be lost: renewals failed until its time was over, the store forgot
// it, an operator took it away. The holder learns of it before the store may
// grant the lock to another, without any network, since the lease ends by the
// clock:
//
//	deadline = sent + TTL − margin
//
// where sent is when the request that was granted, or the renewal that was
// confirmed last, left this machine, and the margin covers clocks that run at
// different rates (Options.Drift) and the time to stop (MutexOptions.Margin, a
// tenth of the TTL unless set). Then [Lease.Context] ends, and every context that
// [Lease.Bind] or Do derived from it; [context.Cause] is the reason:
//
//   - [ErrLost]: another owner may work already;
//   - [ErrMaxHold]: the lease reached MaxHold;
//   - [ErrRevoked]: an operator took the lock away;
//   - [ErrClosed]: the client was closed;
//   - [ErrNotHeld]: it was unlocked.
//
// None of them frees the lock in the store. It stays taken until Unlock or the
// end of the TTL, so that the margin is real time in which to stop.
//
// A process that was stopped, by a debugger, a full disk or a suspended laptop,
// cannot be told anything while it is. When it goes on, [Lease.Check] and Err of
// the lease's contexts look at the clock themselves and are right from the first
// instruction on; a Done channel may lag by some milliseconds. Between a check
// and the effect that follows it there is always a gap, in which the process may
// be stopped again. Only the resource can close it.
//
// # Fencing
//
// [Lease.Token] is a number that is greater than that of every grant of the same
// name that had returned before this one was asked for. Hand it to what the lock
// protects, and let that remember the greatest token it has seen and refuse
// smaller ones:
//
//	UPDATE account SET balance = ?, token = ? WHERE id = ? AND token <= ?
//
// Then a holder that was lost and does not know it yet can do no harm. Tokens of
// different names do not compare. What each store's tokens survive is in
// docs/guarantees.md.
//
// # Waiting
//
// The context given to Lock bounds the wait alone, as with [net.Dialer]: the
// lease outlives it. The context given to Do bounds the wait and the work.
//
// Goroutines of one client that want the same name stand in one line, first come
// first served, and one request for them all waits in the store. There is no
// order between clients; one that has held a contended name for a while stands
// back for a moment, so that others get in. TryLock passes the line and asks the
// store once.
//
// A caller whose context ends returns at once. What the store grants it
// afterwards is given back in the background, and until that is confirmed the
// name may stay taken, for one TTL at most.
//
// MutexOptions.Wait bounds the wait by time, MaxWaiters by the length of the
// line, and Patience by how long the store may stay silent; before the client's
// first answer ever a silent store is an error at once.
//
// # Contexts
//
// Three contexts belong to a lease, and one rule to all of them: they end with
// the lease, at its deadline at the latest.
//
//   - [Lease.Context] has the values of the context given to Lock, but not its
//     cancellation;
//   - [Lease.Bind] gives a child of any other context;
//   - the context that Do passes to its function is a child of Do's own.
//
// They carry the lease, so that code which is far from the call that locked finds
// it with [FromContext], and so that locking a name again under them is noticed:
// that is [ErrDeadlock] at once, since waiting for oneself never ends.
// MutexOptions.Reentrant lets such a call enter again: the same token, no request,
// and the last Unlock releases. It is for one flow of control. Goroutines that
// share a context share the lock as well, and no longer exclude each other.
//
// # Errors
//
// Returned errors name the lock and the remedy; [errors.Is] tells their kinds
// apart:
//
//	somebody else has it      ErrHeld, and with it *HeldError, which says who;
//	                          also ErrDeadlock, ErrTooManyWaiters, or the error
//	                          of the context or wait that ended
//	a lease ended             ErrLost, ErrMaxHold, ErrRevoked, ErrNotHeld
//	the store gave no answer  ErrUnavailable
//	the store said no         ErrRefused, ErrKind, ErrCorrupt
//	too few servers agreed    ErrNoQuorum, ErrNotReplicated: only from stores of
//	                          several servers
//	the release is in doubt   ErrUnknown, from Unlock alone
//	the call was wrong        ErrInvalid, ErrClosed
//
// When Lock, TryLock or Do returns one of them before the work began, nothing is
// held. A context's error appears only where that context, or MutexOptions.Wait,
// has ended; loss is never told as context.Canceled.
//
// After ErrUnavailable or ErrRefused from Unlock the lock may still be taken: call
// Unlock again, or leave it to the background, which keeps trying, and to the TTL.
// Do does not report it, because its caller might repeat work that was done; it
// goes to Options.Observer.
//
// # What it is not
//
// Exclusion is not "once". A short job that is started on three machines runs
// three times, one after the other, under any lock. TryDo with AtLeast makes it
// once for that long; beyond that, "once" is a record that the job keeps, under
// the lock.
//
// What happens after Unlock is not protected: commit inside Do's function.
//
// # Choosing a store
//
//   - memstore excludes goroutines of one process: those that share a client
//     ("memory:"), or a name ("memory:jobs"). It is for tests, and for programs
//     that run once.
//   - sqlitestore ("sqlite:") excludes the processes of one machine, of one user
//     or of several, with nothing to install or to keep running.
//
// A store package's New takes options and returns a *Client; its Open takes a
// URL; [Open] finds the package by the URL's scheme if it is imported. Stores
// that reach several machines are planned: package driver is the contract that
// they must keep, drivertest the suite that checks it.
//
// # Looking from outside
//
// [Client.Ping] asks the store for an answer, at the start of a program or for a
// health check. [Client.Holder] says who holds a name; Options.Label tells people
// what a client is for. Options.Observer hears of every grant, wait, late renewal,
// loss and release; it is called synchronously and must not block.
//
// # Cost
//
// A client runs one goroutine for all renewals and one for what must be given
// back, from when there first is something to do, one for each name that is
// waited for, and a few for requests under way. Ten thousand held locks or a
// thousand goroutines that wait for one name need no more. [Client.Close] ends
// them all, after it has waited for the leases to be unlocked or to end.
package holdfast
