package main

import (
	"io/fs"
	"os"
	"strings"
)

// inContainer reports whether the root file system looks like a container's,
// whose processes share an embedded store with nobody outside.
func inContainer(root fs.FS) bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(root, mark); err == nil {
			return true
		}
	}
	if os.Getenv("container") != "" { // podman, systemd-nspawn, lxc
		return true
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return false
	}
	for _, runtime := range []string{"docker", "kubepods", "containerd", "libpod", "lxc"} {
		if strings.Contains(string(groups), runtime) {
			return true
		}
	}
	return false
}
