/** The form for thresholds of the credit and for further addresses. */
import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { type AlertFields, type AlertsBody, setAlerts } from './alerts-data'

export function AlertsForm({ account }: { account: NonNullable<AlertsBody['account']> }) {
  const { firstUsd, secondUsd, addresses } = account
  const form = useForm<AlertFields>({
    initialValues: { firstUsd: firstUsd ?? '', secondUsd: secondUsd ?? '', addresses: addresses.join('\n') },
  })
  const submission = useSubmission(form, async (fields) => {
    await setAlerts(fields)
    form.resetDirty(fields)
    notifyDone('The alerts were saved.')
  })
  return (
    <PlainForm submission={submission} action="Save" button={{ disabled: !form.isDirty() }} maw={FORM_WIDTH}>
      <TextInput
        label="Low credit, in USD"
        description="Empty for no alert"
        inputMode="decimal"
        maxLength={20}
        {...form.getInputProps('firstUsd')}
      />
      <TextInput
        label="Very low credit, in USD"
        description="Lower than the one above; empty for no alert"
        inputMode="decimal"
        maxLength={20}
        {...form.getInputProps('secondUsd')}
      />
      <Textarea
        label="Further addresses"
        description="One in a line, at most 5: they get the alerts of the account, beside its owners and those who look after bills"
        autosize
        minRows={2}
        maxRows={6}
        {...form.getInputProps('addresses')}
      />
    </PlainForm>
  )
}
