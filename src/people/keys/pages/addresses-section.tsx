/** The settings for the networks from which the account's keys may be used. */
import { Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Versioned } from '@/dashboard/client'
import { SettingsForm } from '@/dashboard/components/fields/plain-form'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { askAgain } from '@/dashboard/query'
import { performVersioned } from '@/people/client'
import { linesOf } from '@/people/form-values'
import { KEY_FIELDS } from '@/people/keys/fields'
import { useSharedForm } from '@/people/newer'

const ADDRESSES_KEY = ['allowed-addresses']

type Lists = { allowedAddresses: string[] | null; ownAddress: string }

const LABEL = 'Addresses and networks'

export function AddressesSection() {
  const lists = useQuery({
    queryKey: ADDRESSES_KEY,
    queryFn: () => performVersioned('GET /allowed-addresses', {}),
  })
  return (
    <Section
      title={KEY_FIELDS.allowedAddresses.label}
      description="Where all keys of this account may be used from, the playground included. A key may narrow it further."
    >
      <Loaded query={lists}>{(given) => <AddressForm given={given} />}</Loaded>
    </Section>
  )
}

function AddressForm({ given }: { given: Versioned<Lists> }) {
  const { form, submission, newer } = useSharedForm({
    given,
    formOf: ({ allowedAddresses }: Lists) => ({ allowedAddresses: allowedAddresses?.join('\n') ?? '' }),
    labels: { allowedAddresses: LABEL },
    async save({ allowedAddresses }, _, etag) {
      const saved = await performVersioned(
        'PUT /allowed-addresses',
        { allowedAddresses: linesOf(allowedAddresses) },
        etag,
      )
      await askAgain({ queryKey: ADDRESSES_KEY })
      notifyDone('This applies from the next request on.')
      return saved
    },
  })
  return (
    <SettingsForm form={form} submission={submission} action="Save">
      <Textarea
        label={LABEL}
        description={`One in a line, at most ${KEY_FIELDS.allowedAddresses.items.most}; empty for everywhere. You are at ${given.value.ownAddress}.`}
        placeholder={KEY_FIELDS.allowedAddresses.example}
        autosize
        minRows={2}
        maxRows={12}
        {...form.getInputProps('allowedAddresses')}
      />
      {newer}
    </SettingsForm>
  )
}
