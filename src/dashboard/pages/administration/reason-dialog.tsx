/** The dialog that asks an administrator why, before something is done that the audit log keeps. */
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
const cancel = () => modals.close(MODAL_ID)

/** Opens the dialog; it stays open and says why where `run` rejects. */
export function openReasonDialog(dialog: ReasonDialog): void {
  modals.open({ modalId: MODAL_ID, title: dialog.title, centered: true, children: <Content dialog={dialog} /> })
}

function Content({ dialog }: { dialog: ReasonDialog }) {
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
      // Also where it was refused: what is shown may be what has changed.
      await adminChanged()
    }
    cancel()
    notifyDone(done)
  })
  return (
    <DialogForm {...{ submission, cancel, action, isDestructive }} lead={<Text size="sm">{body}</Text>}>
      <ReasonField label={label} data-autofocus {...form.getInputProps('reason')} />
    </DialogForm>
  )
}
