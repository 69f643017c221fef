/** A dialog that asks before something that can't be taken back. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { modals } from '@mantine/modals'
import { type ReactNode, useState } from 'react'
import { notifyError } from './notify'

type Confirmation = {
  title: string
  /** What will happen, in full sentences. */
  body: ReactNode
  /** The verb on the button, e.g. `Delete key`. */
  action: string
  /** Has to be typed before the button works. */
  typed?: string
  /** Not everything that is confirmed is destructive. */
  isHarmless?: boolean
  /** Does it; the dialog stays open and says why where this rejects. */
  run(): Promise<unknown>
}

/** Opens the dialog. */
export function confirm(confirmation: Confirmation): void {
  const modalId = `confirm-${confirmation.action}`
  modals.open({
    modalId,
    title: confirmation.title,
    centered: true,
    children: <Question confirmation={confirmation} close={() => modals.close(modalId)} />,
  })
}

function Question({ confirmation, close }: { confirmation: Confirmation; close(): void }) {
  const { body, action, typed, isHarmless = false, run } = confirmation
  const [text, setText] = useState('')
  const [isRunning, setRunning] = useState(false)
  const isReady = typed === undefined || text.trim() === typed
  async function confirmed() {
    setRunning(true)
    try {
      await run()
      close()
    } catch (error) {
      notifyError(error)
      setRunning(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) void confirmed()
      }}
    >
      <Stack gap="md">
        <Text size="sm" component="div">
          {body}
        </Text>
        {typed !== undefined && (
          <TextInput
            label={
              <>
                Type <b className="wrap-anywhere">{typed}</b> to confirm
              </>
            }
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" color={isHarmless ? undefined : 'red.8'} disabled={!isReady} loading={isRunning}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
