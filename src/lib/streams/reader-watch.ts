/** Detects a client that stops reading an answer, which would otherwise keep its resources forever. */
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'

/** How long a client may read nothing of the available data. */
const UNREAD_MS = 60_000

export class ReaderWatch implements Timed {
  dueAtMs: number

  /** `onUnread` is called once, after `limitMs` without a read. */
  constructor(
    private readonly onUnread: () => void,
    private readonly limitMs = UNREAD_MS,
  ) {
    watch(this)
    this.dueAtMs = dueIn(limitMs)
  }

  /** The reader wants more, and waits for us. */
  asked(): void {
    this.dueAtMs = Number.POSITIVE_INFINITY
  }

  /** There is data to read. */
  given(): void {
    this.dueAtMs = dueIn(this.limitMs)
  }

  onDue(): void {
    this.stop()
    this.onUnread()
  }

  stop(): void {
    unwatch(this)
  }
}
