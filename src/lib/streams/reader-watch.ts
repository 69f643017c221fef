/** Watches whether an answer that is made as fast as it is read is read at all: else whatever it holds would be held for ever. */
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'

/** How long a client may take nothing of what is there. */
const UNREAD_MS = 60_000

/** Runs from its making until {@link stop}. */
export class ReaderWatch implements Timed {
  dueAtMs: number

  /** `onUnread` is called once, when nothing was taken for `limitMs`. */
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

  /** There is something for it to take. */
  given(): void {
    this.dueAtMs = dueIn(this.limitMs)
  }

  onDue(): void {
    this.stop()
    this.onUnread()
  }

  /** Safe to call twice. */
  stop(): void {
    unwatch(this)
  }
}
