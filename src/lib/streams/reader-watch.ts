/** Detects a client that stops reading its answer. Without a limit, that answer would keep its resources forever. */
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'

/** How long a client may read nothing although data are ready. */
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

  /** The reader waits for data, so no deadline applies. */
  asked(): void {
    this.dueAtMs = Number.POSITIVE_INFINITY
  }

  /** Data are ready to be read, so the deadline starts. */
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
