/** The lines of a bank statement, each with what will or did become of it, coloured by that. */
import { Anchor, Box, Button, Center, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { Money } from '@/dashboard/components/money'
import { Status, type Tone } from '@/dashboard/components/status'
import { formatDay } from '@/dashboard/format'
import type { PreviewLine } from './admin-data'
import { formatAmount } from './words'

type ShownLine = { line: PreviewLine; label: string; tone: Tone; explanation?: string }

/** More at once would make the page slow to scroll. */
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
      <Table verticalSpacing="sm" horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            <Table.Th visibleFrom="sm">Booked</Table.Th>
            <Table.Th>Payment</Table.Th>
            <Table.Th visibleFrom="sm">Order</Table.Th>
            <Table.Th visibleFrom="sm">Outcome</Table.Th>
            <Table.Th ta="right">Amount</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.slice(0, count).map((shown) => (
            <Line key={shown.line.line} shown={shown} />
          ))}
        </Table.Tbody>
      </Table>
      {lines.length > count && (
        <Center p="md">
          <Button variant="default" onClick={() => setCount(count + SHOWN_AT_ONCE)}>
            Show more
          </Button>
        </Center>
      )}
    </>
  )
}

function Line({ shown }: { shown: ShownLine }) {
  const { line, tone } = shown
  return (
    <Table.Tr style={{ boxShadow: `inset 3px 0 0 ${EDGES[tone]}` }}>
      <Table.Td visibleFrom="sm" className="figures" style={{ whiteSpace: 'nowrap' }}>
        {formatDay(line.bookedOn)}
      </Table.Td>
      <Table.Td>
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
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Order line={line} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Outcome shown={shown} />
      </Table.Td>
      <Table.Td ta="right" className="figures" style={{ whiteSpace: 'nowrap' }}>
        {formatAmount(line.amount, line.currency)}
      </Table.Td>
    </Table.Tr>
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
