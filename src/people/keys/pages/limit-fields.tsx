/** The inputs for an API key's settings, each with its default. */
import { Checkbox, SimpleGrid, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { Fragment } from 'react'
import { useMay } from '@/dashboard/account'
import { formatCount } from '@/dashboard/format'
import { FieldInput } from '@/people/form'
import { FIELD_ROWS, type Field, fieldOf } from '@/people/keys/fields'
import type { KeyForm } from './key-form'
import { useKeys } from './keys-data'

type FormProps = { form: UseFormReturnType<KeyForm> }

/** The field of the budget, the only one that the billing role may change. */
export function BudgetField({ form }: FormProps) {
  return <FieldInput field={fieldOf('monthlyBudget')} input={form.getInputProps('monthlyBudgetUsd')} />
}

/** Short fields are placed side by side, and lists below them. */
const isShort = ({ kind }: Field) => kind === 'usd' || kind === 'moment' || kind === 'count'

/** Every setting that the viewer may change. */
export function LimitFields({ form }: FormProps) {
  const { defaults, ceilings } = useKeys().data ?? {}
  const may = useMay()
  const rows = FIELD_ROWS.filter((field) => field.may === undefined || may(field.may.permission))
  const inputs = (fields: readonly (typeof rows)[number][]) =>
    fields.map((field) => (
      <Fragment key={field.wire}>
        <FieldInput
          field={field}
          input={form.getInputProps(field.wire, { type: field.kind === 'flag' ? 'checkbox' : 'input' })}
          {...(field.kind === 'count' && countWords(field.wire as keyof Counts, defaults, ceilings))}
        />
        {field.kind === 'networks' && form.values.allowedAddresses.trim() !== '' && (
          <Checkbox
            label="My own address need not be among them: the programs run elsewhere"
            {...form.getInputProps('withoutMyAddress', { type: 'checkbox' })}
          />
        )}
      </Fragment>
    ))
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        {inputs(rows.filter(isShort))}
      </SimpleGrid>
      {inputs(rows.filter((field) => !isShort(field)))}
    </Stack>
  )
}

type Counts = NonNullable<ReturnType<typeof useKeys>['data']>['defaults']

/** The account's limit applies to all its keys together, so no key can have more. */
function countWords(name: keyof Counts, defaults: Counts | undefined, ceilings: Counts | undefined) {
  return {
    placeholder: defaults ? `${formatCount(defaults[name])} (standard)` : 'Standard',
    ...(ceilings && { max: ceilings[name], help: `At most ${formatCount(ceilings[name])}, shared by all your keys` }),
  }
}
