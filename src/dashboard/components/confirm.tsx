/** A dialog that asks before something that can't be taken back. */
import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'
import { DialogForm } from './fields/dialog-form'
import { useSubmission } from './fields/use-submission'

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
  const id = modals.open({
    title: confirmation.title,
    centered: true,
    children: <Question confirmation={confirmation} close={() => modals.close(id)} />,
  })
}

function Question({ confirmation, close }: { confirmation: Confirmation; close(): void }) {
  const { body, action, typed, isHarmless = false, run } = confirmation
  const form = useForm({ initialValues: { text: '' } })
  const submission = useSubmission(form, async () => {
    await run()
    close()
  })
  return (
    <DialogForm
      submission={submission}
      cancel={close}
      action={action}
      isDestructive={!isHarmless}
      isReady={typed === undefined || form.values.text.trim() === typed}
      lead={
        <Text size="sm" component="div" className="wrap-anywhere">
          {body}
        </Text>
      }
    >
      {typed !== undefined && (
        <TextInput
          label={
            <>
              Type <b className="wrap-anywhere">{typed}</b> to confirm
            </>
          }
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('text')}
        />
      )}
    </DialogForm>
  )
}
