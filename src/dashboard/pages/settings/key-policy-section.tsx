/** The part of the settings that says what holds for all keys of the account: models, providers, and the age at which a key ends. */
import { NumberInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { accountApi } from '@/dashboard/account'
import { answer } from '@/dashboard/client'
import { ModelsField, ProvidersField } from '@/dashboard/components/fields/allowed-fields'
import { FORM_WIDTH, PlainForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { keysChanged } from '@/dashboard/pages/keys/keys-data'
import { queryClient } from '@/dashboard/query'

const POLICY_KEY = ['key-policy']
const MAX_DAYS = 3650

type Policy = { allowedModels: string[] | null; allowedProviders: string[] | null; maxKeyAgeDays: number | null }

export function KeyPolicySection() {
  const policy = useQuery({ queryKey: POLICY_KEY, queryFn: () => answer(accountApi()['key-policy'].get()) })
  return (
    <Section
      title="Rules for all API keys"
      description="They hold for every key of this account from the next request on. A key may be narrower, never wider."
    >
      <Loaded query={policy}>{(told) => <PolicyForm key={JSON.stringify(told)} policy={told} />}</Loaded>
    </Section>
  )
}

type Fields = { allowedModels: string[]; allowedProviders: string[]; maxKeyAgeDays: number | '' }

function PolicyForm({ policy }: { policy: Policy }) {
  const form = useForm<Fields>({
    initialValues: {
      allowedModels: policy.allowedModels ?? [],
      allowedProviders: policy.allowedProviders ?? [],
      maxKeyAgeDays: policy.maxKeyAgeDays ?? '',
    },
  })
  const submission = useSubmission(form, async ({ allowedModels, allowedProviders, maxKeyAgeDays }) => {
    const saved = await answer(
      accountApi()['key-policy'].put({
        allowedModels: allowedModels.length === 0 ? null : allowedModels,
        allowedProviders: allowedProviders.length === 0 ? null : allowedProviders,
        maxKeyAgeDays: maxKeyAgeDays === '' ? null : maxKeyAgeDays,
      }),
    )
    queryClient.setQueryData(POLICY_KEY, saved)
    await keysChanged()
    notifyDone('This holds from the next request on.')
  })
  return (
    <PlainForm
      submission={submission}
      action="Save"
      button={{ variant: 'default', disabled: !form.isDirty() }}
      maw={FORM_WIDTH}
    >
      <ModelsField
        label="Models that keys may call"
        description="The playground as well"
        {...form.getInputProps('allowedModels')}
      />
      <ProvidersField label="Providers that may answer" {...form.getInputProps('allowedProviders')} />
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
    </PlainForm>
  )
}
