/** The dialog that asks an administrator why, before something is done that the audit log keeps. */
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { FormError } from '@/dashboard/components/fields/form-error'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { withProof } from '@/dashboard/components/step-up'
import { adminChanged } from './admin-data'

type ReasonDialog = {
  title: string
  /** What will happen, in full sentences. */
  body: string
  /** The verb on the button. */
  action: string
  label: string
  /** Whether it may be left empty. */
  isOptional?: boolean
  isDestructive?: boolean
  done: string
  run(reason: string): Promise<unknown>
}

const MODAL_ID = 'reason'
const MIN_REASON_CHARS = 3

/** Opens the dialog; it stays open and says why where `run` rejects. */
export function openReasonDialog(dialog: ReasonDialog): void {
  modals.open({ modalId: MODAL_ID, title: dialog.title, centered: true, children: <Content dialog={dialog} /> })
}

function Content({ dialog }: { dialog: ReasonDialog }) {
  const { body, action, label, isOptional = false, isDestructive = false, done, run } = dialog
  const form = useForm({
    initialValues: { reason: '' },
    validate: {
      reason: (text) => (isOptional || text.trim().length >= MIN_REASON_CHARS ? null : 'Say why.'),
    },
  })
  const { submit, isRunning, error } = useSubmission(form, async ({ reason }) => {
    try {
      await withProof(() => run(reason.trim()))
    } finally {
      // Also where it was refused: what is shown may be what has changed.
      await adminChanged()
    }
    modals.close(MODAL_ID)
    notifyDone(done)
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm">{body}</Text>
        <FormError error={error} />
        <Textarea
          label={label}
          description="Kept in the audit log."
          maxLength={500}
          autosize
          minRows={2}
          data-autofocus
          {...form.getInputProps('reason')}
        />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => modals.close(MODAL_ID)}>
            Cancel
          </Button>
          <Button type="submit" color={isDestructive ? 'red.8' : undefined} loading={isRunning}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
