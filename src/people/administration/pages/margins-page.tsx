/** The margins page: charges, provider costs and margins, by model and by day. */
import { SegmentedControl, SimpleGrid } from '@mantine/core'
import { IconScale } from '@tabler/icons-react'
import { useSearchParams } from 'wouter'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Former } from '@/dashboard/components/states/former'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatCount, formatDay } from '@/dashboard/format'
import { Known, MarginTable, ThrownAway } from './margin-table'
import { type Margin, type Margins, useMargins } from './margins-data'

const RANGES = ['7', '30', '90']
const DEFAULT_RANGE = '30'

export function AdminMarginsPage() {
  const [params, setParams] = useSearchParams()
  const asked = params.get('days') ?? DEFAULT_RANGE
  const days = RANGES.includes(asked) ? asked : DEFAULT_RANGE
  const margins = useMargins(Number(days))
  return (
    <Page
      title="Margins"
      description="What customers were charged, less what providers ask for it by the catalogue's costs. Customers see none of this."
      actions={
        <SegmentedControl
          data={RANGES.map((value) => ({ value, label: `${value} days` }))}
          value={days}
          onChange={(value) => setParams({ days: value }, { replace: true })}
          aria-label="How many days"
        />
      }
    >
      <Loaded query={margins}>
        {(data) => (
          <Former isFormer={margins.isPlaceholderData}>
            <Report margins={data} />
          </Former>
        )}
      </Loaded>
    </Page>
  )
}

function Report({ margins }: { margins: Margins }) {
  if (margins.total.requests === 0) {
    return (
      <Section>
        <EmptyState icon={IconScale} title="Nothing was sold in these days">
          Margins appear seconds after the first charged request.
        </EmptyState>
      </Section>
    )
  }
  return (
    <>
      <Totals total={margins.total} />
      <Section title="By model" description={`Since ${formatDay(margins.from)}, UTC`}>
        <MarginTable rows={margins.models.map((row) => ({ ...row, key: row.model, name: row.model }))} />
      </Section>
      <Section title="By day and model">
        <MarginTable
          rows={margins.days.map((row) => ({
            ...row,
            key: `${row.day} ${row.model}`,
            name: formatDay(row.day),
            detail: row.model,
          }))}
        />
      </Section>
    </>
  )
}

function Totals({ total }: { total: Margin }) {
  const isPartial = total.uncosted !== '0'
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
      <Stat label="Charged" value={<Money usd={total.charged} />} hint={`${formatCount(total.requests)} requests`} />
      <Stat label="Providers ask" value={<Known usd={total.cost} />} hint={<ThrownAway {...total} />} />
      <Stat
        label="Margin"
        value={<Known usd={total.margin} />}
        hint={isPartial ? 'Of what has a known cost' : undefined}
      />
      <Stat
        label="Charged at unknown cost"
        value={<Money usd={total.uncosted} />}
        hint={isPartial ? 'In no margin: the catalogue states no cost' : 'Every cost is known'}
      />
    </SimpleGrid>
  )
}
