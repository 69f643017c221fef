import { Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { DialogForm, isReason, ReasonField } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { withProof } from '@/dashboard/components/step-up'
import { adminChanged } from './admin-data'

type ReasonDialog = {
  title: string
  /** The consequences, in full sentences. */
  body: string
  /** The verb on the button. */
  action: string
  label: string
  isOptional?: boolean
  isDestructive?: boolean
  done: string
  run(reason: string): Promise<unknown>
}

/** Asks an administrator for the reason of an audited action. If `run` rejects, it stays open and shows the error. */
export function openReasonDialog(dialog: ReasonDialog): void {
  const close = () => modals.close(id)
  const id = modals.open({ title: dialog.title, centered: true, children: <Content dialog={dialog} close={close} /> })
}

function Content({ dialog, close }: { dialog: ReasonDialog; close(): void }) {
  const { body, action, label, isOptional = false, isDestructive = false, done, run } = dialog
  const form = useForm({
    initialValues: { reason: '' },
    validate: {
      reason: (text) => (isOptional || isReason(text) ? null : 'Say why.'),
    },
  })
  const submission = useSubmission(form, async ({ reason }) => {
    try {
      await withProof(() => run(reason.trim()))
    } finally {
      // Also reloads after a refusal, since another person's change may be the cause.
      await adminChanged()
    }
    close()
    notifyDone(done)
  })
  return (
    <DialogForm {...{ submission, action, isDestructive }} cancel={close} lead={<Text size="sm">{body}</Text>}>
      <ReasonField label={label} data-autofocus {...form.getInputProps('reason')} />
    </DialogForm>
  )
}
