/** Types of single parts of prom-client: its index would also load a push gateway, an HTTP client and OpenTelemetry. */
declare module 'prom-client/lib/registry.js' {
  import { Registry } from 'prom-client'
  export = Registry
}
declare module 'prom-client/lib/cluster.js' {
  import { AggregatorRegistry } from 'prom-client'
  export = AggregatorRegistry
}
declare module 'prom-client/lib/counter.js' {
  import { Counter } from 'prom-client'
  export = Counter
}
declare module 'prom-client/lib/gauge.js' {
  import { Gauge } from 'prom-client'
  export = Gauge
}
declare module 'prom-client/lib/histogram.js' {
  import { Histogram } from 'prom-client'
  export = Histogram
}
