package holdfasttest

import (
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/driver/drivertest"
)

// Client is a client and its network. Give the *holdfast.Client in it to the code
// under test.
type Client struct {
	*holdfast.Client
	net *drivertest.Faulty
}

// Partition cuts the client off from the store until Heal. Nothing passes, in
// either direction, and nobody is told: requests get no answer.
func (c *Client) Partition() { c.net.Partition(nil) }

// Heal ends a partition. What was lost on the way stays lost.
func (c *Client) Heal() { c.net.Heal() }

// Delay lets each request travel that much longer to the store from now on; 0
// ends that. The client gives up a request after its Timeout, but the store
// carries it out when it arrives, unless that is too late for it.
func (c *Client) Delay(d time.Duration) {
	if d <= 0 {
		c.net.Plan(nil)
		return
	}
	c.net.Plan(func(drivertest.Call) drivertest.Fault { return drivertest.Fault{Before: d} })
}
