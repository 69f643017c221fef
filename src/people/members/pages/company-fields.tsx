/** The fields of a company's legal data, which receipts show. */
import { Select, SimpleGrid, TextInput } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { COUNTRIES } from '@/lib/countries'
import { countryName } from './words'

export type Company = { name: string; country: string; vatId: string | null }

type Fields = { name: string; country: string | null; vatId: string }

const VAT_ID = /^[A-Za-z0-9 .-]{2,30}$/

/** Labels contain the country code, so that a search finds it too. */
const CHOICES = COUNTRIES.map((code) => ({ value: code, label: `${countryName(code)} (${code})` })).toSorted(
  (one, other) => one.label.localeCompare(other.label, 'en'),
)

/** A form of these fields, filled with `company`. */
export function useCompanyForm(company?: Company): UseFormReturnType<Fields> {
  return useForm<Fields>({
    initialValues: { name: company?.name ?? '', country: company?.country ?? null, vatId: company?.vatId ?? '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter the name of the company.' : null),
      country: (country) => (country ? null : 'Choose the country.'),
      vatId: (vatId) => (vatId.trim() === '' || VAT_ID.test(vatId.trim()) ? null : 'Enter letters and digits.'),
    },
  })
}

/** The fields in the form that the server expects. */
export function companyFrom({ name, country, vatId }: Fields): { name: string; country: string; vatId?: string } {
  return { name: name.trim(), country: country ?? '', ...(vatId.trim() !== '' && { vatId: vatId.trim() }) }
}

export function CompanyFields({ form }: { form: UseFormReturnType<Fields> }) {
  return (
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
  )
}
