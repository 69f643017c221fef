/** The fields for the optional limits of an API key, each with what holds without it. */
import { Checkbox, NumberInput, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useMay } from '@/dashboard/account'
import { ModelsField, ProvidersField } from '@/dashboard/components/fields/allowed-fields'
import { formatCount } from '@/dashboard/format'
import { type KeyFields, today } from './key-form'
import { useKeys } from './keys-data'

/** The one field of somebody who looks after bills alone. */
export function BudgetField({ form }: { form: UseFormReturnType<KeyFields> }) {
  return (
    <TextInput
      label="Monthly budget"
      description="USD per calendar month (UTC)"
      placeholder="No budget"
      inputMode="decimal"
      leftSection="$"
      {...form.getInputProps('monthlyBudgetUsd')}
    />
  )
}

/** Fields for a form of {@link KeyFields}. */
export function LimitFields({ form }: { form: UseFormReturnType<KeyFields> }) {
  const { defaults, ceilings } = useKeys().data ?? {}
  const isManager = useMay()('limits.raise')
  const standard = (count: number | undefined) =>
    count === undefined ? 'Standard' : `${formatCount(count)} (standard)`
  const number = { min: 1, allowDecimal: false, thousandSeparator: ',', hideControls: true } as const
  /** The account's own limit is that of all its keys together, so no key can have more. */
  const upTo = (ceiling: number | undefined) =>
    ceiling === undefined
      ? {}
      : { max: ceiling, description: `At most ${formatCount(ceiling)}, shared by all your keys` }
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
        <BudgetField form={form} />
        <TextInput
          type="date"
          label="Last day"
          description="Works until the end of this day"
          min={today()}
          {...form.getInputProps('expiresAt')}
        />
        <NumberInput
          {...number}
          {...upTo(ceilings?.requestsPerMinute)}
          label="Requests per minute"
          placeholder={standard(defaults?.requestsPerMinute)}
          {...form.getInputProps('requestsPerMinute')}
        />
        <NumberInput
          {...number}
          {...upTo(ceilings?.tokensPerMinute)}
          label="Tokens per minute"
          placeholder={standard(defaults?.tokensPerMinute)}
          {...form.getInputProps('tokensPerMinute')}
        />
        <NumberInput
          {...number}
          {...upTo(ceilings?.concurrency)}
          label="Requests at once"
          placeholder={standard(defaults?.concurrency)}
          {...form.getInputProps('concurrency')}
        />
      </SimpleGrid>
      <ModelsField
        label="Allowed models"
        description="Calls to other models are refused, and auto tiers choose among these only"
        {...form.getInputProps('allowedModels')}
      />
      <ProvidersField label="Allowed providers" {...form.getInputProps('allowedProviders')} />
      {isManager && <AddressFields form={form} />}
      {isManager && <TagsField form={form} />}
    </Stack>
  )
}

function TagsField({ form }: { form: UseFormReturnType<KeyFields> }) {
  return (
    <TextInput
      label="Tags"
      description="By which all usage of this key is sorted, whatever tags its requests say; at most eight, name=value"
      placeholder="team=search, env=prod"
      {...form.getInputProps('tags')}
    />
  )
}

function AddressFields({ form }: { form: UseFormReturnType<KeyFields> }) {
  return (
    <>
      <Textarea
        label="Allowed addresses"
        description="Addresses or networks that requests may come from, one in a line; others are refused"
        placeholder={'203.0.113.7\n2001:db8::/32'}
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps('allowedAddresses')}
      />
      {form.values.allowedAddresses.trim() !== '' && (
        <Checkbox
          label="My own address need not be among them: the programs run elsewhere"
          {...form.getInputProps('withoutMyAddress', { type: 'checkbox' })}
        />
      )}
    </>
  )
}
