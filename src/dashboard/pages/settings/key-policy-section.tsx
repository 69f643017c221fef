/** The settings section for the rules of all keys of the account: models, providers, and the maximum age. */
import { NumberInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { AllowedFields, type AllowedLists, allowedFrom, listsFrom } from '@/dashboard/components/fields/allowed-fields'
import { SettingsForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { type KeyPolicy, setKeyPolicy, useKeyPolicy } from '@/dashboard/pages/keys/policies-data'

const MAX_DAYS = 3650

export function KeyPolicySection() {
  return (
    <Section
      title="Rules for all API keys"
      description="They hold for every key of this account from the next request on. A key may be narrower, never wider."
    >
      <Loaded query={useKeyPolicy()}>{(told) => <PolicyForm key={JSON.stringify(told)} policy={told} />}</Loaded>
    </Section>
  )
}

type Fields = AllowedLists & { maxKeyAgeDays: number | '' }

function PolicyForm({ policy }: { policy: KeyPolicy }) {
  const form = useForm<Fields>({
    initialValues: { ...listsFrom(policy), maxKeyAgeDays: policy.maxKeyAgeDays ?? '' },
  })
  const submission = useSubmission(form, async ({ maxKeyAgeDays, ...lists }) => {
    await setKeyPolicy({ ...allowedFrom(lists), maxKeyAgeDays: maxKeyAgeDays === '' ? null : maxKeyAgeDays })
    notifyDone('This applies from the next request on.')
  })
  return (
    <SettingsForm form={form} submission={submission} action="Save">
      <AllowedFields form={form} />
      <NumberInput
        label="Greatest age of a key, in days"
        description="A key ends so long after it was made or last rotated. Older ones end at once."
        placeholder="No limit"
        min={1}
        max={MAX_DAYS}
        allowDecimal={false}
        hideControls
        {...form.getInputProps('maxKeyAgeDays')}
      />
    </SettingsForm>
  )
}
