/** The margins page: charges, provider costs and margins, by model and by day. */
import { SegmentedControl, SimpleGrid, Text } from '@mantine/core'
import { IconScale } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { Money } from '@/dashboard/components/money'
import { Page } from '@/dashboard/components/page'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Former } from '@/dashboard/components/states/former'
import { Loaded } from '@/dashboard/components/states/loaded'
import { Status } from '@/dashboard/components/status'
import { decimalsOf, formatCount, formatDay } from '@/dashboard/format'
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

type MarginRow = Margin & { key: string; name: string; detail?: string }

function MarginTable({ rows }: { rows: readonly MarginRow[] }) {
  const charges = decimalsOf(rows.map((row) => row.charged))
  const costs = decimalsOf(rows.map((row) => row.cost ?? '0'))
  const margins = decimalsOf(rows.map((row) => row.margin ?? '0'))
  return (
    <DataTable
      items={rows}
      keyOf={({ key }) => key}
      verticalSpacing="xs"
      horizontalSpacing="xs"
      columns={[
        {
          title: rows.some(({ detail }) => detail !== undefined) ? 'Day' : 'Model',
          className: 'wrap-anywhere',
          cell: ({ name, detail }) => <Below lead={name}>{detail}</Below>,
        },
        { title: 'Requests', ...FIGURES, visibleFrom: 'md', cell: ({ requests }) => formatCount(requests) },
        { title: 'Charged', ta: 'right', cell: ({ charged }) => <Money usd={charged} decimals={charges} /> },
        {
          title: 'Providers ask',
          ta: 'right',
          visibleFrom: 'md',
          cell: (row) => (
            <Below lead={<Known usd={row.cost} decimals={costs} />}>
              {row.thrownAwayCalls > 0 && <ThrownAway {...row} />}
            </Below>
          ),
        },
        {
          title: 'Margin',
          ta: 'right',
          cell: ({ margin, uncosted }) => (
            <Below lead={<Known usd={margin} decimals={margins} />}>
              {margin !== null && uncosted !== '0' && (
                <>
                  without <Money usd={uncosted} /> at unknown cost
                </>
              )}
            </Below>
          ),
        },
      ]}
    />
  )
}

function Below({ lead, children }: { lead: ReactNode; children: ReactNode }) {
  return (
    <>
      {lead}
      {children && (
        <Text size="xs" c="dimmed" component="div">
          {children}
        </Text>
      )}
    </>
  )
}

/** Abandoned calls: the client disconnected before the first byte, or a parallel call was faster. */
function ThrownAway({ thrownAwayCalls, thrownAway }: Pick<Margin, 'thrownAwayCalls' | 'thrownAway'>) {
  if (thrownAwayCalls === 0) return 'Nothing was thrown away'
  return (
    <>
      <Money usd={thrownAway} /> for {formatCount(thrownAwayCalls)} {thrownAwayCalls === 1 ? 'call' : 'calls'} thrown
      away
    </>
  )
}

/** An unknown amount is shown as "unknown", not as zero. */
function Known({ usd, decimals }: { usd: string | null; decimals?: number }) {
  if (usd === null) {
    return (
      <Text span inherit c="dimmed">
        Unknown
      </Text>
    )
  }
  if (!usd.startsWith('-')) return <Money usd={usd} decimals={decimals} />
  return (
    <>
      <Money usd={usd} decimals={decimals} /> <Status tone="bad">Loss</Status>
    </>
  )
}
