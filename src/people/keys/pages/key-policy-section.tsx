/** The settings section for the rules of all keys of the account: models, providers, and the maximum age. */
import type { Versioned } from '@/dashboard/client'
import { SettingsForm } from '@/dashboard/components/fields/plain-form'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { FieldInput } from '@/people/form'
import { changesIn, formOf, labelsOf } from '@/people/form-values'
import { POLICY_ROWS } from '@/people/keys/fields'
import { useSharedForm } from '@/people/newer'
import { type KeyPolicy, setKeyPolicy, useKeyPolicy } from './policies-data'

export function KeyPolicySection() {
  return (
    <Section
      title="Rules for all API keys"
      description="They hold for every key of this account from the next request on. A key may be narrower, never wider."
    >
      <Loaded query={useKeyPolicy()}>{(given) => <PolicyForm given={given} />}</Loaded>
    </Section>
  )
}

function PolicyForm({ given }: { given: Versioned<KeyPolicy> }) {
  const { form, submission, newer } = useSharedForm({
    given,
    formOf: (policy: KeyPolicy) => formOf(POLICY_ROWS, policy),
    labels: labelsOf(POLICY_ROWS),
    async save(values, before, etag) {
      const saved = await setKeyPolicy(changesIn(POLICY_ROWS, before, values), etag)
      notifyDone('This applies from the next request on.')
      return saved
    },
  })
  return (
    <SettingsForm form={form} submission={submission} action="Save">
      {POLICY_ROWS.map((field) => (
        <FieldInput
          key={field.wire}
          field={field}
          input={form.getInputProps(field.wire, { type: field.kind === 'flag' ? 'checkbox' : 'input' })}
        />
      ))}
      {newer}
    </SettingsForm>
  )
}
