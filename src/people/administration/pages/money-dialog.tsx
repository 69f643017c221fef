import { Checkbox, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { type ReactNode, useState } from 'react'
import { newRequestKey } from '@/dashboard/client'
import { DialogForm, isReason, ReasonField } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { withProof } from '@/dashboard/components/step-up'
import { adminChanged, type MoneyAnswer } from './admin-data'

type MoneyDialogValues = { amount: string; reason: string; allowNegative: boolean; key: string }

type MoneyDialog = {
  title: string
  /** The consequences, in full sentences. */
  body: ReactNode
  action: string
  /** If undefined, the dialog has no amount field. */
  amount?: { label: string; description?: string; initial: string }
  asksNegative?: boolean
  isDestructive?: boolean
  done: string
  run(values: MoneyDialogValues): Promise<MoneyAnswer>
}

/** The dialog of all actions that move money. It sends a request key, so a form that is sent twice moves money only once. */
export function openMoneyDialog(dialog: MoneyDialog): void {
  const close = () => modals.close(id)
  const id = modals.open({ title: dialog.title, centered: true, children: <Content dialog={dialog} close={close} /> })
}

function Content({ dialog, close }: { dialog: MoneyDialog; close(): void }) {
  const { body, action, amount, asksNegative = false, isDestructive = false, done, run } = dialog
  const [key] = useState(newRequestKey)
  const form = useForm({
    initialValues: { amount: amount?.initial ?? '', reason: '', allowNegative: false },
    validate: {
      amount: (text) => (amount && text.trim() === '' ? 'Enter an amount such as 25 or 12.50.' : null),
      reason: (text) => (isReason(text) ? null : 'Say why. It is kept in the audit log.'),
    },
  })
  const submission = useSubmission(form, async (values) => {
    const request = { ...values, amount: values.amount.trim(), reason: values.reason.trim(), key }
    const answered = await withProof(() => run(request))
    close()
    notifyDone(
      answered.status === 'done'
        ? done
        : 'Another administrator has to approve it: it is above the limit, or for your own account.',
    )
    await adminChanged()
  })
  return (
    <DialogForm
      {...{ submission, action, isDestructive }}
      cancel={close}
      lead={
        <Text size="sm" component="div">
          {body}
        </Text>
      }
    >
      {amount && (
        <TextInput
          label={amount.label}
          description={amount.description}
          inputMode="decimal"
          leftSection="$"
          data-autofocus
          {...form.getInputProps('amount')}
        />
      )}
      <ReasonField {...form.getInputProps('reason')} />
      {asksNegative && (
        <Checkbox
          label="The balance may go below zero"
          {...form.getInputProps('allowNegative', { type: 'checkbox' })}
        />
      )}
    </DialogForm>
  )
}
