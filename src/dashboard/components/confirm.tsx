/** A dialog that asks for confirmation. */
import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'
import { DialogForm } from './fields/dialog-form'
import { useSubmission } from './fields/use-submission'

type Confirmation = {
  title: string
  /** The consequences, in full sentences. */
  body: ReactNode
  action: string
  /** A text that must be typed before the button works. */
  typed?: string
  /** If not set, the action is shown as destructive. */
  isHarmless?: boolean
  /** Performs the action. If it rejects, the dialog stays open and shows the error. */
  run(): Promise<unknown>
}

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
