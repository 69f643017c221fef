/** The form that makes a personal account an organisation, for good. */
import { Button, Group, Select, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { confirm } from '@/dashboard/components/confirm'
import { notifyDone } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { COUNTRIES } from '@/lib/places/countries'
import { makeOrganisation } from './members-data'
import { countryName } from './words'

const VAT_ID = /^[A-Za-z0-9 .-]{2,30}$/

/** With the two letters, so that these are found as well. */
const CHOICES = COUNTRIES.map((code) => ({ value: code, label: `${countryName(code)} (${code})` })).toSorted(
  (one, other) => one.label.localeCompare(other.label, 'en'),
)

export function OrganisationForm() {
  const form = useForm({
    initialValues: { name: '', country: null as string | null, vatId: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter the name of the company.' : null),
      country: (country: string | null) => (country ? null : 'Choose the country.'),
      vatId: (vatId) => (vatId.trim() === '' || VAT_ID.test(vatId.trim()) ? null : 'Enter letters and digits.'),
    },
  })
  const submit = form.onSubmit(
    ({ name, country, vatId }) => ask(name.trim(), country ?? '', vatId.trim()),
    (errors) => form.getInputNode(Object.keys(errors)[0] ?? '')?.focus(),
  )
  return (
    <Section
      title="Share this account"
      description="An organisation has members in roles. Balance, keys and history stay as they are; an organisation does not become a personal account again."
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
            <TextInput
              label="Company name"
              description="The account gets this name"
              maxLength={200}
              autoComplete="organization"
              {...form.getInputProps('name')}
            />
            <Select
              label="Country"
              description="Where the company is"
              placeholder="Search"
              searchable
              autoComplete="off"
              nothingFoundMessage="No country of that name"
              data={CHOICES}
              {...form.getInputProps('country')}
            />
            <TextInput label="VAT id" description="Optional" maxLength={30} {...form.getInputProps('vatId')} />
          </SimpleGrid>
          <Group>
            <Button type="submit" variant="default">
              Make it an organisation
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}

function ask(name: string, country: string, vatId: string): void {
  confirm({
    title: 'Make this account an organisation?',
    body: `The account is called ${name} from then on. This cannot be undone.`,
    action: 'Make it an organisation',
    isHarmless: true,
    async run() {
      await makeOrganisation({ name, country, ...(vatId !== '' && { vatId }) })
      notifyDone(`${name} is an organisation now.`)
    },
  })
}
