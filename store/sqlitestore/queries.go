package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"strings"
)

//go:embed sql
var files embed.FS

// queries runs the statements in sql, by the names of their files. Each is
// prepared when first used. A queries belongs to one goroutine at a time.
type queries struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

// Statements run on a context that cannot end: each takes microseconds, and the
// driver would start a goroutine to watch another kind.
var toTheEnd = context.Background()

func text(name string) string {
	b, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // a name that is not in this package
	}
	// The driver keeps a statement prepared only if nothing follows it.
	return strings.TrimRight(string(b), ";\n")
}

func (q *queries) prepare(name string) (*sql.Stmt, error) {
	if s := q.stmts[name]; s != nil {
		return s, nil
	}
	s, err := q.conn.PrepareContext(toTheEnd, text(name))
	if err != nil {
		return nil, err
	}
	q.stmts[name] = s
	return s, nil
}

// script runs a file of several statements.
func (q *queries) script(name string) error {
	_, err := q.conn.ExecContext(toTheEnd, text(name))
	return err
}

func (q *queries) exec(name string, args ...any) error {
	_, err := q.count(name, args...)
	return err
}

// count returns how many rows changed.
func (q *queries) count(name string, args ...any) (int64, error) {
	s, err := q.prepare(name)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(toTheEnd, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// row reads one row into dest; false means that there is none.
func (q *queries) row(name string, args []any, dest ...any) (bool, error) {
	s, err := q.prepare(name)
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(toTheEnd, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// each calls scan for every row.
func (q *queries) each(name string, args []any, scan func(row *sql.Rows) error) error {
	s, err := q.prepare(name)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(toTheEnd, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// strings reads a column of text.
func (q *queries) strings(name string, args ...any) ([]string, error) {
	var all []string
	err := q.each(name, args, func(row *sql.Rows) error {
		var s string
		err := row.Scan(&s)
		all = append(all, s)
		return err
	})
	return all, err
}

func (q *queries) close() {
	for _, s := range q.stmts {
		_ = s.Close()
	}
}
