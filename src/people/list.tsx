/** Settings as texts on a page, made from the rows that define the settings. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Moment } from '@/dashboard/components/moment'
import { formatCount, formatMoney } from '@/dashboard/format'
import type { Field } from '@/people/keys/fields'

type FieldFactsProps = {
  rows: readonly Field[]
  settings: Record<string, unknown>
  /** The defaults, shown for counts without a value. */
  defaults: Record<string, number | undefined>
}

/** Every setting with its value in words. */
export function FieldFacts({ rows, settings, defaults }: FieldFactsProps) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
      {rows.map((field) => (
        <div key={field.wire}>
          <Text size="sm" c="dimmed">
            {field.shownAs ?? field.label}
          </Text>
          <Text size="sm" component="div" className="figures">
            {wordsOf(field, settings[field.wire], defaults[field.wire])}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}

function wordsOf({ kind, none }: Field, value: unknown, standard: number | undefined): ReactNode {
  if (kind === 'count' && value === null)
    return standard === undefined ? 'Standard' : `${formatCount(standard)} (standard)`
  if (value === null) return none
  if (kind === 'count') return formatCount(Number(value))
  if (kind === 'usd') return formatMoney(String(value))
  if (kind === 'moment') return <Moment at={String(value)} />
  if (kind === 'flag') return value ? 'Yes' : 'No'
  if (!Array.isArray(value)) return String(value)
  return (
    <Stack gap={2}>
      {value.map((item: string) => (
        <Text key={item} span size="sm" ff="monospace" className="wrap-anywhere">
          {item}
        </Text>
      ))}
    </Stack>
  )
}
