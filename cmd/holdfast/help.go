package main

const runHelp = `Run takes the lock NAME, runs COMMAND while it holds it, and releases it when
COMMAND ends. Whoever runs something under the same NAME in the same store waits
until then. COMMAND gets the standard streams, the terminal and all signals; it
is started directly, not by a shell. A second Ctrl-C kills it, unless it reads
key by key, as an editor, a shell or psql does: then the key is its own.

If the lock is lost, COMMAND and everything it started is asked to end (TERM) and
killed in time (KILL), before the store may grant the lock to anyone else. What
COMMAND left running when it ended by itself goes on, without the lock.

COMMAND finds HOLDFAST_NAME and HOLDFAST_TOKEN in its environment: hand the token
to what the lock protects, and let that refuse smaller ones. HOLDFAST_HELD lists
all locks around it, so that a nested run of the same NAME just runs: without a
lock of its own, and so without --max-hold, --at-least and the like.

One at a time is not once: a job that takes 10 ms and is started in three places
runs three times, one after the other. With --no-wait and --at-least it runs once.

Exit codes, unless COMMAND ends by itself, with a code of its own or 128+n for
signal n:
   64  a flag, a value or the name is wrong
   69  the store cannot be reached
   74  the lock is held, and --wait passed      (--held-exit replaces both;
   75  the lock is held, and --no-wait given     --held-exit 0 makes it a success)
   76  the lock was lost, or --max-hold passed: COMMAND may be half done
   77  the store refused
  126  COMMAND cannot be executed
  127  COMMAND was not found
128+n  signal n ended the wait; COMMAND never started

With --on-lost warn COMMAND goes on without the lock, and its own exit code
counts. --max-hold ends it in any case. While a run is stopped (Ctrl-Z) nothing
renews the lock: it is lost after the TTL.

With --json each line on standard error is an object with time, event and, where
they apply, name, token, holder {host, pid, program, label, owner, since,
resting}, pid, signal, code, waited and held in seconds, and message. The events
are waiting, acquired, nested, started, signal, renewed_late, renewal_failed,
subscription_down, subscription_up, given_back, lost, exited, released, held,
warning and error.`

const runExamples = `  # only one backup at a time; the second waits for the first
  holdfast run backup -- ./backup.sh

  # from several crontabs at once: one of them runs it, the others do nothing
  holdfast run --no-wait --at-least 1m --held-exit 0 --quiet report -- ./report.sh

  # wait for at most ten minutes; end a hung migration after an hour
  holdfast run --wait 10m --max-hold 1h migrate -- ./migrate up

  # shell syntax needs a shell
  holdfast run nightly -- sh -c 'make clean && make all'

  # one lock for all users of this machine, or in a folder of your own
  holdfast run --system disk -- fsck /dev/sdb1
  holdfast run --store sqlite:/srv/app/locks import -- ./import`
