package sqlitestore

const (
	bootID    = "kern.bootsessionuuid"
	monotonic = 8 // CLOCK_UPTIME_RAW: stops in sleep, as Go's own clock does
)
