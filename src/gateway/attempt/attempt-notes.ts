/** What an attempt writes into the log of its request and its answer. */
import type { CountsInDoubt } from '@/dialects/dialect'
import { showFields } from '@/formats/body-fields'
import type { Logger } from '@/lib/logger'

/** Fields that the target is not told; a line only where there are any. */
export function noteLeftOut(logger: Logger, requestId: string, fields: readonly string[]): void {
  if (fields.length > 0) logger.info('request_fields_left_out', { requestId, fields: showFields(fields) })
}

/** What is charged stays what the answer told; that its cloud counts otherwise is for operators to know. */
export function noteDoubts(logger: Logger, requestId: string, provider: string) {
  return (counts: CountsInDoubt) => logger.warn('provider_counts_differ', { requestId, provider, ...counts })
}
