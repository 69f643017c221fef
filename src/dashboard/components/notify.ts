/** Shows short messages of success or failure in the corner of the page. */
import { notifications } from '@mantine/notifications'

const ERROR_MS = 8_000
const closeButtonProps = { 'aria-label': 'Close message' }

/** Shows a success message. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps })
}

/** Shows the server's error message. */
export function notifyError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  notifications.show({ title: 'That did not work', message, color: 'red', autoClose: ERROR_MS, closeButtonProps })
}
