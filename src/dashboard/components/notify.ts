/** Shows short messages in the corner of the page: something worked, or failed. */
import { notifications } from '@mantine/notifications'

const ERROR_MS = 8_000
const closeButtonProps = { 'aria-label': 'Close message' }

/** Something worked. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps })
}

/** Something failed: says the server's own words. */
export function notifyError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  notifications.show({ title: 'That did not work', message, color: 'red', autoClose: ERROR_MS, closeButtonProps })
}
