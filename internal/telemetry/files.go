package telemetry

import "github.com/prometheus/client_golang/prometheus"

// NewRefusedFiles registers and returns the gauge of watched files, by the setting that names the
// file. It is 0 at first, for each of the settings.
func NewRefusedFiles(registry prometheus.Registerer, settings ...string) *prometheus.GaugeVec {
	refused := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "bagtrail_file_refused",
		Help: "1 if the file of a setting was changed and cannot be loaded: the old content stays in force. Else 0.",
	}, []string{"setting"})
	for _, s := range settings {
		refused.WithLabelValues(s)
	}
	registry.MustRegister(refused)
	return refused
}
