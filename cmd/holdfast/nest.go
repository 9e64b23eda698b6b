package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast"
)

// The environment of the command.
const (
	envHeld  = "HOLDFAST_HELD"  // JSON list of all locks around the command, outermost first
	envName  = "HOLDFAST_NAME"  // the innermost one's name
	envToken = "HOLDFAST_TOKEN" // and its fencing token
)

// outer is a lock that some run around this process says it holds. Daemons
// inherit the variable long after the lock is gone, so that it is never believed
// without asking the store.
type outer struct {
	Name  string `json:"name"`
	Token int64  `json:"token"`
	Owner string `json:"owner"` // fingerprint: not the owner id, which is the right to release
}

func outerLocks() ([]outer, error) {
	text := os.Getenv(envHeld)
	if text == "" {
		return nil, nil
	}
	var held []outer
	if err := json.Unmarshal([]byte(text), &held); err != nil {
		return nil, fmt.Errorf("%s is no JSON list of locks and is ignored: %w", envHeld, err)
	}
	return held, nil
}

// verify asks the store whether the lock is held as o says.
func (o outer) verify(ctx context.Context, client *holdfast.Client) (bool, error) {
	h, err := client.Holder(ctx, o.Name)
	switch {
	case errors.Is(err, holdfast.ErrNotHeld), errors.Is(err, holdfast.ErrInvalid):
		return false, nil
	case err != nil:
		return false, err
	}
	return h.Token == o.Token && h.Fingerprint == o.Owner && !h.Revoked && !h.Resting, nil
}

// nesting is what the store confirmed of the locks around this process.
type nesting struct {
	inside bool   // some lock around us is held: stay in its process group
	same   *outer // this very name is held
}

// verifyNesting asks about this name first, then about the others, innermost
// first, until one is confirmed.
func verifyNesting(ctx context.Context, client *holdfast.Client, held []outer, name string) (nesting, error) {
	order := slices.Clone(held)
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b outer) int {
		return rank(a, name) - rank(b, name)
	})
	for _, o := range order {
		ok, err := o.verify(ctx, client)
		if err != nil {
			return nesting{}, err
		}
		if ok && o.Name == name {
			return nesting{inside: true, same: &o}, nil
		}
		if ok {
			return nesting{inside: true}, nil
		}
	}
	return nesting{}, nil
}

func rank(o outer, name string) int {
	if o.Name == name {
		return 0
	}
	return 1
}

// commandEnv is our environment with the lock that the command runs under.
func commandEnv(held []outer, name string, token int64) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == envHeld || key == envName || key == envToken
	})
	list, err := json.Marshal(held)
	if err != nil {
		list = []byte("[]") // cannot happen: strings and numbers
	}
	return append(env, envHeld+"="+string(list), envName+"="+name, envToken+"="+strconv.FormatInt(token, 10))
}
