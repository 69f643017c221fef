/** The lines of a bank statement, each with the planned or actual effect, and a colour for it. */
import { Anchor, Box, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { ShowMore } from '@/dashboard/components/lists/show-more'
import { Money } from '@/dashboard/components/money'
import { Status, type Tone } from '@/dashboard/components/status'
import { formatDay } from '@/dashboard/format'
import type { PreviewLine } from './admin-data'
import { formatAmount } from './words'

type ShownLine = { line: PreviewLine; label: string; tone: Tone; explanation?: string }

/** Maximum lines shown at first: more rows would make scrolling slow. */
const SHOWN_AT_ONCE = 100

const EDGES: Record<Tone, string> = {
  good: 'var(--mantine-color-green-6)',
  bad: 'var(--mantine-color-red-6)',
  waiting: 'var(--mantine-color-yellow-6)',
  info: 'var(--mantine-color-blue-6)',
  neutral: 'transparent',
}

export function StatementLines({ lines }: { lines: readonly ShownLine[] }) {
  const [count, setCount] = useState(SHOWN_AT_ONCE)
  return (
    <>
      <DataTable
        items={lines.slice(0, count)}
        keyOf={({ line }) => line.line}
        rowStyle={({ tone }) => ({ boxShadow: `inset 3px 0 0 ${EDGES[tone]}` })}
        horizontalSpacing="md"
        columns={[
          { title: 'Booked', visibleFrom: 'sm', ...FIGURES, cell: ({ line }) => formatDay(line.bookedOn) },
          { title: 'Payment', cell: (shown) => <Payment shown={shown} /> },
          { title: 'Order', visibleFrom: 'sm', cell: ({ line }) => <Order line={line} /> },
          { title: 'Outcome', visibleFrom: 'sm', cell: (shown) => <Outcome shown={shown} /> },
          { title: 'Amount', ta: 'right', ...FIGURES, cell: ({ line }) => formatAmount(line.amount, line.currency) },
        ]}
      />
      <ShowMore
        hasNextPage={lines.length > count}
        isFetchingNextPage={false}
        fetchNextPage={() => setCount(count + SHOWN_AT_ONCE)}
      />
    </>
  )
}

const FIGURES = { className: 'figures', style: { whiteSpace: 'nowrap' } } as const

function Payment({ shown }: { shown: ShownLine }) {
  const { line } = shown
  return (
    <>
      <Text size="sm" className="wrap-anywhere">
        {line.counterparty || 'Unknown sender'}
      </Text>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        {line.text || 'No text'}
      </Text>
      <Box hiddenFrom="sm" mt={6}>
        <Outcome shown={shown} />
        <Order line={line} />
      </Box>
    </>
  )
}

function Outcome({ shown }: { shown: ShownLine }) {
  return (
    <>
      <Status tone={shown.tone}>{shown.label}</Status>
      {shown.explanation !== undefined && (
        <Text size="xs" c="dimmed" mt={2}>
          {shown.explanation}
        </Text>
      )}
    </>
  )
}

function Order({ line: { order } }: { line: PreviewLine }) {
  if (!order) return null
  return (
    <>
      <Anchor component={Link} href={`/admin/orders?order=${order.orderId}`} size="sm" className="figures">
        {order.reference}
      </Anchor>
      <Text size="xs" c="dimmed" className="wrap-anywhere">
        <Money usd={order.amount} /> · {order.accountName}
      </Text>
    </>
  )
}
