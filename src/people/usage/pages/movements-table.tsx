/** The movements of a statement between its opening and closing balance. */
import { Anchor, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Heads, SCROLLED } from '@/dashboard/components/lists/data-table'
import { Money } from '@/dashboard/components/money'
import { decimalsOf, formatCount, formatDay } from '@/dashboard/format'
import type { Movement } from './statement-data'

type MovementsTableProps = {
  items: readonly Movement[]
  opening: string
  /** The closing balance. Undefined if more movements must be loaded first. */
  closing: string | undefined
  /** Whether it is the viewer's own statement: only then are orders linked. */
  isOwn: boolean
}

const WORDS: Readonly<Record<Movement['kind'], string>> = {
  usage: 'Usage',
  payment: 'Credit bought',
  refund: 'Refund',
  chargeback: 'Taken back by the bank of the payer',
  reinstatement: 'Given back after it had been taken',
  adjustment: 'Adjustment',
  transfer: 'Moved between accounts of an owner',
  credit: 'Credit by the operator',
  correction: 'Correction by the operator',
}

export function MovementsTable({ items, opening, closing, isOwn }: MovementsTableProps) {
  const exact = { isExact: true }
  const decimals = decimalsOf(
    [opening, closing ?? '0', ...items.flatMap(({ amount, balance }) => [amount, balance])],
    exact,
  )
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={SCROLLED}>
      <Table verticalSpacing="xs" horizontalSpacing="lg" className="figures">
        <Heads columns={COLUMNS} />
        <Table.Tbody>
          <Balance label="Opening balance" usd={opening} decimals={decimals} />
          {items.map((item) => (
            <Table.Tr key={item.id}>
              <Table.Td style={NO_WRAP}>
                <time dateTime={item.at ?? item.day} title={item.at ?? item.day}>
                  {formatDay(item.day)}
                </time>
              </Table.Td>
              <Table.Td className="wrap-anywhere">
                <What item={item} isOwn={isOwn} />
              </Table.Td>
              <Table.Td ta="right" style={NO_WRAP}>
                <Money usd={item.amount} decimals={decimals} />
              </Table.Td>
              <Table.Td ta="right" style={NO_WRAP}>
                <Money usd={item.balance} decimals={decimals} />
              </Table.Td>
            </Table.Tr>
          ))}
          {closing !== undefined && <Balance label="Closing balance" usd={closing} decimals={decimals} />}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const NO_WRAP = { whiteSpace: 'nowrap' } as const
const COLUMNS = [
  { title: 'Day' },
  { title: 'Movement' },
  { title: 'Amount', ta: 'right' },
  { title: 'Balance', ta: 'right' },
] as const

function Balance({ label, usd, decimals }: { label: string; usd: string; decimals: number }) {
  return (
    <Table.Tr fw={600}>
      <Table.Td />
      <Table.Td>{label}</Table.Td>
      <Table.Td />
      <Table.Td ta="right" style={NO_WRAP}>
        <Money usd={usd} decimals={decimals} />
      </Table.Td>
    </Table.Tr>
  )
}

function What({ item, isOwn }: { item: Movement; isOwn: boolean }) {
  const { kind, day, requests, orderId, orderReference, reference } = item
  const next = new URLSearchParams({ range: 'days', from: day, to: day })
  return (
    <>
      {WORDS[kind]}
      {kind === 'usage' && requests !== null && (
        <>
          {', '}
          {isOwn ? (
            <Anchor component={Link} href={`/usage?${next}`} size="sm">
              {requestsText(requests)}
            </Anchor>
          ) : (
            requestsText(requests)
          )}
        </>
      )}
      {orderId !== null && (
        <>
          {', order '}
          <Anchor
            component={Link}
            href={isOwn ? `/credit/orders/${orderId}` : `/admin/orders?order=${orderId}`}
            size="sm"
          >
            {orderReference}
          </Anchor>
        </>
      )}
      {reference !== null && (
        <Text size="xs" c="dimmed">
          {reference}
        </Text>
      )}
    </>
  )
}

/** A day's usage may consist of corrections only, which are no requests. */
function requestsText(requests: number): string {
  if (requests === 0) return 'corrections'
  return requests === 1 ? '1 request' : `${formatCount(requests)} requests`
}
