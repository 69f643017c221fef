/** A gateway that tells a collector of everything at once, with a provider of each format and one beside each. */
import { type Customer, type GatewayOptions, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { KIND, type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver'

export interface TracedGateway {
  readonly gateway: TestGateway
  readonly receiver: OtlpReceiver
  readonly customer: Customer
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>
  /** All spans of the request with this id, once its own has come; undefined: of the only request since the last `forget`. */
  spansOf(requestId?: string): Promise<Trace>
  forget(): void
  stop(): Promise<void>
}

type Trace = {
  server: ReceivedSpan
  /** The calls to providers, in the order of their attempts. */
  calls: ReceivedSpan[]
  step(name: string): ReceivedSpan | undefined
  all: ReceivedSpan[]
}

/** Starts both; `environment` goes beyond what makes it export quickly. */
export async function startTracedGateway(options: GatewayOptions): Promise<TracedGateway> {
  const receiver = startOtlpReceiver()
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
    ...options.environment,
  }
  const gateway = await startGateway({ ...options, environment })
  const customer = await gateway.customer('10')
  return {
    ...{ gateway, receiver, customer },
    post: (path, body, headers = {}, signal) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async spansOf(requestId) {
      const isServer = ({ kind, attributes }: ReceivedSpan) =>
        kind === KIND.server && (requestId === undefined || attributes['svc.request.id'] === requestId)
      const server = await until(() => receiver.spans.find(isServer), 'the span of the request')
      const all = receiver.spans.filter(({ traceId }) => traceId === server.traceId)
      const number = (span: ReceivedSpan) => Number(span.attributes['svc.attempt.number'])
      const calls = all.filter(({ kind }) => kind === KIND.client).sort((one, other) => number(one) - number(other))
      return { server, calls, all, step: (name) => all.find((span) => span.name === name) }
    },
    forget() {
      receiver.spans.length = 0
      receiver.seen.length = 0
      gateway.logLines.length = 0
    },
    async stop() {
      await gateway.stop()
      receiver.stop()
    },
  }
}
