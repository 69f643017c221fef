/** A table of charges, provider costs and margins, for the pages of margins and books. */
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { Money } from '@/dashboard/components/money'
import { Status } from '@/dashboard/components/status'
import { decimalsOf, formatCount } from '@/dashboard/format'
import type { Margin } from './margins-data'

type MarginRow = Margin & { key: string; name: string; detail?: string }

/** A row for each model, or for each day and model. */
export function MarginTable({ rows }: { rows: readonly MarginRow[] }) {
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

/** The cost of calls whose answer nobody got: the client disconnected before the first byte, or a parallel call was faster. */
export function ThrownAway({ thrownAwayCalls, thrownAway }: Pick<Margin, 'thrownAwayCalls' | 'thrownAway'>) {
  if (thrownAwayCalls === 0) return 'Nothing was thrown away'
  return (
    <>
      <Money usd={thrownAway} /> for {formatCount(thrownAwayCalls)} {thrownAwayCalls === 1 ? 'call' : 'calls'} thrown
      away
    </>
  )
}

/** An unknown amount is shown as "unknown", not as zero. */
export function Known({ usd, decimals }: { usd: string | null; decimals?: number }) {
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
