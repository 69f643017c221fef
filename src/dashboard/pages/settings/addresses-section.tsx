/** The settings for the networks from which the account's keys may be used. */
import { Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { SettingsForm } from '@/dashboard/components/fields/plain-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { askAgain } from '@/dashboard/query'
import { perform } from '@/people/client'
import { linesOf } from '@/people/form-values'
import { KEY_FIELDS } from '@/people/keys/fields'

const ADDRESSES_KEY = ['allowed-addresses']

type Lists = { allowedAddresses: string[] | null; ownAddress: string }

export function AddressesSection() {
  const lists = useQuery({
    queryKey: ADDRESSES_KEY,
    queryFn: () => perform('GET /allowed-addresses', {}),
  })
  return (
    <Section
      title="Allowed addresses"
      description="Where all keys of this account may be used from, the playground included. A key may narrow it further."
    >
      <Loaded query={lists}>{(told) => <AddressForm key={told.allowedAddresses?.join()} lists={told} />}</Loaded>
    </Section>
  )
}

function AddressForm({ lists }: { lists: Lists }) {
  const before = lists.allowedAddresses?.join('\n') ?? ''
  const form = useForm({ initialValues: { allowedAddresses: before } })
  const submission = useSubmission(form, async ({ allowedAddresses }) => {
    await perform('PUT /allowed-addresses', { allowedAddresses: linesOf(allowedAddresses) })
    await askAgain({ queryKey: ADDRESSES_KEY })
    notifyDone('This applies from the next request on.')
  })
  return (
    <SettingsForm form={form} submission={submission} action="Save">
      <Textarea
        label="Addresses and networks"
        description={`One in a line, at most ${KEY_FIELDS.allowedAddresses.items.most}; empty for everywhere. You are at ${lists.ownAddress}.`}
        placeholder={KEY_FIELDS.allowedAddresses.example}
        autosize
        minRows={2}
        maxRows={12}
        {...form.getInputProps('allowedAddresses')}
      />
    </SettingsForm>
  )
}
