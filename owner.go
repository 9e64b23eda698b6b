package holdfast

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// newClientID returns a random (version 4) UUID. It names the client in owner
// ids; it is not what makes them unique.
func newClientID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newOwner returns an owner id that no other acquisition ever uses. The number
// is drawn each time: a counter would repeat in a cloned virtual machine.
func newOwner(client string) string {
	var b [8]byte
	rand.Read(b[:])
	return client + ":" + strconv.FormatUint(binary.BigEndian.Uint64(b[:])>>1, 10)
}

// shortOwner is the form of an owner id that people see. The whole id is also
// the right to release, so it is never printed.
func shortOwner(owner string) string {
	client, _, ok := strings.Cut(owner, ":")
	if ok && len(client) == 36 {
		return client[:8]
	}
	return fingerprint(owner)[:8]
}

// fingerprint tells owner ids apart without giving them away.
func fingerprint(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:8])
}
