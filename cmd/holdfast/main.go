// Holdfast runs a command under a distributed lock:
//
//	holdfast run nightly-report -- ./report.sh
//
// holdfast help run explains the flags by example.
package main

import "os"

func main() {
	if asTripwire(os.Args) {
		return
	}
	os.Exit(run(os.Args[1:]))
}
