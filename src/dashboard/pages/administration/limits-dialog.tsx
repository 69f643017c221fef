/** The dialog in which an administrator says what all keys of an account may do together. */
import { NumberInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { answer, api } from '@/dashboard/client'
import { DialogForm, isReason, ReasonField } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { formatCount } from '@/dashboard/format'
import { type AccountView, adminChanged } from './admin-data'

const MODAL_ID = 'limits'

/** Opens the dialog with the account's present limits. */
export function openLimitsDialog(account: AccountView): void {
  modals.open({ modalId: MODAL_ID, title: 'Change limits', centered: true, children: <Content account={account} /> })
}

function Content({ account }: { account: AccountView }) {
  const { limits, defaultLimits } = account
  const form = useForm<{ [name in keyof typeof limits]: number | '' } & { reason: string }>({
    initialValues: {
      requestsPerMinute: limits.requestsPerMinute ?? '',
      tokensPerMinute: limits.tokensPerMinute ?? '',
      concurrency: limits.concurrency ?? '',
      reason: '',
    },
    validate: { reason: (text) => (isReason(text) ? null : 'Say why.') },
  })
  const submission = useSubmission(form, async ({ reason, ...counts }) => {
    const values = {
      requestsPerMinute: counts.requestsPerMinute || null,
      tokensPerMinute: counts.tokensPerMinute || null,
      concurrency: counts.concurrency || null,
    }
    await answer(api.admin.accounts({ accountId: account.accountId }).limits.post({ ...values, reason: reason.trim() }))
    await adminChanged()
    modals.close(MODAL_ID)
    notifyDone('The limits were changed.')
  })
  const field = (name: keyof typeof limits) => ({
    min: 1,
    allowDecimal: false,
    thousandSeparator: ',',
    hideControls: true,
    placeholder: `${formatCount(defaultLimits[name])} (standard)`,
    ...form.getInputProps(name),
  })
  return (
    <DialogForm
      {...{ submission, modalId: MODAL_ID, action: 'Change limits' }}
      lead={
        <Text size="sm">
          They hold for all keys of {account.name} together, and no key can have more. Left empty, the standard holds.
        </Text>
      }
    >
      <NumberInput label="Requests per minute" {...field('requestsPerMinute')} />
      <NumberInput label="Tokens per minute" {...field('tokensPerMinute')} />
      <NumberInput label="Requests at once" {...field('concurrency')} />
      <ReasonField {...form.getInputProps('reason')} />
    </DialogForm>
  )
}
