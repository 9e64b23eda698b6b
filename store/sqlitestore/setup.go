package sqlitestore

import (
	"fmt"

	"github.com/holdfast-go/holdfast/driver"
)

const (
	appID  = 0x486f6c64 // "Hold", as sql/stamp.sql writes it
	format = 1          // likewise
)

// setUp makes a new database ours and readies the connection. It may run in
// many processes at once, and again after each SQLITE_BUSY. A file of somebody
// else is left as it is.
func (d *database) setUp(p place) error {
	empty, err := d.identify()
	if err != nil {
		return err
	}
	var mode string
	if _, err := d.q.row("journal", nil, &mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: %s: SQLite cannot use its write-ahead log there: choose a folder on a local disk", driver.ErrRefused, d.path)
	}
	if err := d.q.script("connect"); err != nil {
		return err
	}
	if !empty {
		return nil
	}
	return d.create()
}

// identify reports whether the file is empty, and refuses one that is not ours.
func (d *database) identify() (empty bool, err error) {
	var app, version, tables int64
	if _, err := d.q.row("identify", nil, &app, &version, &tables); err != nil {
		return false, err
	}
	switch {
	case app == 0 && version == 0 && tables == 0:
		return true, nil
	case app != appID:
		return false, fmt.Errorf("%w: %s belongs to another program: choose another folder", driver.ErrRefused, d.path)
	case version > format:
		return false, fmt.Errorf("%w: %s has format %d, this program knows %d: update it", driver.ErrRefused, d.path, version, format)
	case version < format:
		return false, fmt.Errorf("%w: %s has the unknown format %d: move the folder away", driver.ErrRefused, d.path, version)
	}
	return false, nil
}

// create writes the tables, unless another process was first.
func (d *database) create() (err error) {
	if err := d.q.exec("begin"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = d.q.exec("rollback")
		}
	}()
	empty, err := d.identify()
	if err != nil {
		return err
	}
	if empty {
		if err := d.q.script("schema"); err != nil {
			return err
		}
		if err := d.q.script("stamp"); err != nil {
			return err
		}
	}
	return d.q.exec("commit")
}
