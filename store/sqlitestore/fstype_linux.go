package sqlitestore

import "golang.org/x/sys/unix"

// distant names the file systems whose files another machine may share, where
// flock and the clock of this machine say nothing about the others.
var distant = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.CIFS_SUPER_MAGIC:  "CIFS",
	unix.V9FS_MAGIC:        "9p",
	unix.FUSE_SUPER_MAGIC:  "FUSE or virtiofs",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.AFS_FS_MAGIC:      "AFS",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.NCP_SUPER_MAGIC:   "NCP",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x01161970:             "GFS2",
	0x0bd00bd0:             "Lustre",
	0x47504653:             "GPFS",
	0x20030528:             "OrangeFS",
	0x19830326:             "BeeGFS",
	0x786f4256:             "VirtualBox shared folders",
	0xbacbacbc:             "VMware shared folders",
	0x7c7c6673:             "Parallels shared folders",
}

// distantType names the type of dir's file system if it may span machines, else
// it is empty.
func distantType(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	return distant[uint32(st.Type)], nil
}
