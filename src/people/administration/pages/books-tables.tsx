/** The tables of the books page: the liability's equation, cash by way of payment, and one row for each day or month. */
import { Text } from '@mantine/core'
import { DataTable } from '@/dashboard/components/lists/data-table'
import { Money } from '@/dashboard/components/money'
import { Status } from '@/dashboard/components/status'
import { decimalsOf } from '@/dashboard/format'
import { type BookSums, type Books, type CashSums, TERMS, wayLabel } from './books-data'
import { Known } from './margin-table'

/** The opening liability, all movements, and the closing liability, as exact amounts. */
export function EquationTable({ sums }: { sums: BookSums }) {
  const terms = TERMS.filter((term) => !('isRare' in term) || sums[term.name] !== '0')
  const rows = [
    { name: 'opening', label: 'Opening liability', hint: undefined, usd: sums.opening },
    ...terms.map((term) => ({ hint: undefined, ...term, usd: sums[term.name] })),
    { name: 'closing', label: 'Closing liability', hint: 'The sum of all balances', usd: sums.closing },
  ]
  const decimals = decimalsOf(
    rows.map(({ usd }) => usd),
    { isExact: true },
  )
  return (
    <DataTable
      items={rows}
      keyOf={({ name }) => name}
      verticalSpacing="xs"
      columns={[
        {
          title: 'Movement',
          cell: ({ label, hint }) => (
            <>
              {label}
              {hint && (
                <Text size="xs" c="dimmed" component="div">
                  {hint}
                </Text>
              )}
            </>
          ),
        },
        { title: 'USD', ta: 'right', cell: ({ usd }) => <Money usd={usd} isExact decimals={decimals} /> },
      ]}
    />
  )
}

/** Received and returned money, by way of payment and currency. */
export function CashTable({ cash }: { cash: readonly CashSums[] }) {
  if (cash.length === 0) {
    return (
      <Text size="sm" c="dimmed" px="lg" pb="lg">
        No money came in or went out in this time.
      </Text>
    )
  }
  return (
    <DataTable
      items={cash}
      keyOf={({ way, currency }) => `${way} ${currency}`}
      verticalSpacing="xs"
      minWidth={720}
      columns={[
        {
          title: 'Way',
          cell: ({ way, currency, isTest }) => (
            <>
              {wayLabel(way)}, {currency} {isTest && <Status tone="waiting">Simulated, no cash</Status>}
            </>
          ),
        },
        { title: 'Received', ta: 'right', cell: ({ received }) => <Sum amount={received} /> },
        { title: 'Tax in it', ta: 'right', cell: ({ tax }) => <Sum amount={tax} /> },
        { title: 'Refunded', ta: 'right', cell: ({ refunded }) => <Sum amount={refunded} /> },
        { title: 'Disputed', ta: 'right', cell: ({ chargedBack }) => <Sum amount={chargedBack} /> },
        { title: 'Reinstated', ta: 'right', cell: ({ reinstated }) => <Sum amount={reinstated} /> },
      ]}
    />
  )
}

/** An amount with two decimals. The first cell of its row names the currency. */
function Sum({ amount }: { amount: string }) {
  const [whole = '', cents = ''] = amount.replace('-', '−').split('.')
  return (
    <span className="figures">
      {whole}.{cents.padEnd(2, '0')}
    </span>
  )
}

/** A row for each day or month. */
export function PeriodTable({ periods }: { periods: Books['periods'] }) {
  const column = (title: string, name: 'closing' | 'grants' | 'purchases' | 'refunds' | 'revenue') => {
    const decimals = decimalsOf(periods.map((row) => row[name]))
    return {
      title,
      ta: 'right' as const,
      cell: (row: Books['periods'][number]) => <Money usd={row[name]} decimals={decimals} />,
    }
  }
  return (
    <DataTable
      items={periods}
      keyOf={({ period }) => period}
      verticalSpacing="xs"
      horizontalSpacing="xs"
      minWidth={860}
      mt="md"
      columns={[
        { title: 'UTC', className: 'figures', cell: ({ period }) => period },
        column('Bought', 'purchases'),
        column('Granted', 'grants'),
        column('Refunds', 'refunds'),
        column('Revenue', 'revenue'),
        { title: 'Providers ask', ta: 'right', cell: ({ cost }) => <Known usd={cost} /> },
        { title: 'Margin', ta: 'right', cell: ({ margin }) => <Known usd={margin} /> },
        column('Liability', 'closing'),
      ]}
    />
  )
}
