//go:build darwin || freebsd

package sqlitestore

import "golang.org/x/sys/unix"

// distantType names the type of dir's file system if it may span machines, else
// it is empty.
func distantType(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	if st.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(st.Fstypename[:]), nil
}
