/** Lets somebody read along with what a meter sees. */
import type { AnswerListener } from '@/telemetry/tracing'
import type { Meter } from './meter'

/** The meter itself where nobody listens, as for nearly every answer. */
export function tapMeter(meter: Meter, listener: AnswerListener | undefined): Meter {
  if (!listener) return meter
  return {
    ...meter,
    observe(event) {
      listener.observe(event)
      meter.observe(event)
    },
    observeResponse(response) {
      listener.observeResponse(response)
      meter.observeResponse(response)
    },
  }
}
