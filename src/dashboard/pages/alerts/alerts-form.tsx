/** The form for the balance thresholds. */
import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { type AlertFields, type AlertsBody, setAlerts } from './alerts-data'

export function AlertsForm({ account }: { account: NonNullable<AlertsBody['account']> }) {
  const { firstUsd, secondUsd } = account
  const form = useForm<AlertFields>({
    initialValues: { firstUsd: firstUsd ?? '', secondUsd: secondUsd ?? '' },
  })
  const submission = useSubmission(form, async (fields) => {
    const { isBelow } = await setAlerts(fields)
    form.resetDirty(fields)
    notifyDone(
      isBelow ? 'The alerts were saved. Your credit is below one already: it is sent now.' : 'The alerts were saved.',
    )
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
    </PlainForm>
  )
}
