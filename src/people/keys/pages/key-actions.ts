/** Actions on an API key besides editing. Those that stop programs ask for confirmation. */
import { confirm } from '@/dashboard/components/confirm'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { deleteKey, type KeyBody, setActive } from './keys-data'

/** Asks for a confirmation, then deactivates the key. */
export function askToDeactivate(item: KeyBody): void {
  confirm({
    title: `Deactivate “${item.name}”?`,
    body: item.builtIn
      ? 'The playground stops working for everybody of this account, until the key is activated again.'
      : 'Programs that use this key are refused from their next request on. You can activate it again at any time.',
    action: 'Deactivate key',
    async run() {
      await setActive(item, false)
      notifyDone(`“${item.name}” is deactivated.`)
    },
  })
}

/** Activates a key that was deactivated before. */
export async function activate(item: KeyBody): Promise<void> {
  try {
    await setActive(item, true)
    notifyDone(`“${item.name}” is active.`)
  } catch (error) {
    notifyError(error)
  }
}

/** Deletes a key after its name was typed as a confirmation; `then` is called afterwards. */
export function askToDelete(item: KeyBody, then?: () => void): void {
  confirm({
    title: `Delete “${item.name}”?`,
    body: 'Programs that use this key are refused for ever. This cannot be undone. The usage of the key is kept.',
    action: 'Delete key',
    typed: item.name,
    async run() {
      await deleteKey(item)
      notifyDone(`“${item.name}” is deleted.`)
      then?.()
    },
  })
}
