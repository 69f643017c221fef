/** The filters above the usage list: time, key, models, outcome and billing. */
import { Button, Group, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { RANGES, type Range, type UsageFilters } from './filters'
import { useChoices } from './usage-data'
import { flagLabel, ruleLabel } from './words'

type FilterBarProps = {
  filters: UsageFilters
  isNarrowed: boolean
  change(changes: Partial<UsageFilters>): void
  clear(): void
}

const STATUSES = [
  { value: 'ok', label: 'Succeeded' },
  { value: 'error', label: 'Any error' },
  { value: '499', label: '499 client went away' },
  { value: '500', label: '500 internal error' },
  { value: '502', label: '502 provider failed' },
  { value: '504', label: '504 provider too slow' },
]

export function FilterBar({ filters, isNarrowed, change, clear }: FilterBarProps) {
  const { data } = useChoices()
  const models = (data?.models ?? []).map(plain)
  const members = (data?.members ?? []).map(({ memberId, name }) => ({ value: memberId, label: name }))
  const [tags, apps] = [(data?.tags ?? []).map(plain), (data?.apps ?? []).map(plain)]
  const billing = [
    ...(data?.rules ?? []).map(({ name }) => ({ value: `rule:${name}`, label: ruleLabel(name) })),
    ...(data?.flags ?? []).map(({ name }) => ({ value: `flag:${name}`, label: `Marked: ${flagLabel(name)}` })),
  ]
  const billed = filters.flag ? `flag:${filters.flag}` : filters.rule ? `rule:${filters.rule}` : ''
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" verticalSpacing="xs" className="no-print">
      <Select
        label="Time"
        size="sm"
        data={[...RANGES]}
        value={filters.range}
        allowDeselect={false}
        onChange={(value) => change({ range: (value ?? '30d') as Range })}
      />
      {filters.range === 'days' && (
        <>
          <Day label="From (UTC)" value={filters.from} onChange={(from) => change({ from })} />
          <Day label="To (UTC)" value={filters.to} onChange={(to) => change({ to })} />
        </>
      )}
      <Choice
        label="API key"
        data={(data?.keys ?? []).map(({ keyId, name }) => ({ value: keyId, label: name }))}
        value={filters.key}
        onChange={(key) => change({ key })}
      />
      <Choice label="Answered by" data={models} value={filters.model} onChange={(model) => change({ model })} />
      <Choice
        label="Asked for"
        data={[...(data?.tiers ?? []).map((id) => ({ value: id, label: id })), ...models]}
        value={filters.requestedModel}
        onChange={(requestedModel) => change({ requestedModel })}
      />
      <Choice label="Outcome" data={STATUSES} value={filters.status} onChange={(status) => change({ status })} />
      <Choice
        label="Billing"
        data={billing}
        value={billed}
        onChange={(value) => {
          const [kind, name = ''] = value.split(':')
          change({ rule: kind === 'rule' ? name : '', flag: kind === 'flag' ? name : '' })
        }}
      />
      <Choice
        label="Member"
        data={members}
        value={filters.member}
        onChange={(member) => change({ member })}
        isOptional
      />
      <Choice label="Tag" data={tags} value={filters.tag} onChange={(tag) => change({ tag })} isOptional />
      <Choice label="App" data={apps} value={filters.app} onChange={(app) => change({ app })} isOptional />
      {isNarrowed && (
        <Group align="flex-end">
          <Button variant="default" size="sm" leftSection={<IconFilterOff size={16} />} onClick={clear}>
            Clear filters
          </Button>
        </Group>
      )}
    </SimpleGrid>
  )
}

type Option = { value: string; label: string }

const plain = (value: string): Option => ({ value, label: value })

type ChoiceProps = {
  label: string
  data: Option[]
  value: string
  onChange(value: string): void
  /** Whether the field is hidden while there are no values to choose. */
  isOptional?: boolean
}

/** An unknown value, such as from a shared URL, is shown unchanged. */
function Choice({ label, data, value, onChange, isOptional = false }: ChoiceProps) {
  if (isOptional && data.length === 0 && value === '') return null
  const isKnown = value === '' || data.some((option) => option.value === value)
  return (
    <Select
      label={label}
      size="sm"
      placeholder="All"
      clearable
      searchable={data.length > 8}
      data={isKnown ? data : [...data, { value, label: value }]}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
    />
  )
}

function Day({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) {
  return (
    <TextInput
      label={label}
      size="sm"
      type="date"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
