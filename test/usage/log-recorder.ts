/** A logger that keeps what it is told, for tests that expect an event to be reported. */
import { createLogger, type Logger } from '@/lib/logger'

type LogLine = { level: string; event: string; [field: string]: unknown }

/** `events` returns the lines of one event name since the last `clear`. */
export function logRecorder(): { logger: Logger; events(name: string): LogLine[]; clear(): void } {
  const lines: LogLine[] = []
  const logger = createLogger({
    level: 'debug',
    service: 'test',
    write: (line) => lines.push(JSON.parse(line)),
  })
  return {
    logger,
    events: (name) => lines.filter((line) => line.event === name),
    clear: () => {
      lines.length = 0
    },
  }
}
